import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder, temporaryServer } from "@toolcrib/testing";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { fromRegistry } from "./available.ts";
import { comparePackages } from "./comparePackages.ts";
import { findProject } from "./installed.ts";

let address = "";
/** What the registry was asked, by whom. */
let asked: { url: string; headers: IncomingHttpHeaders }[] = [];
/** Leaves requests open. */
let isSilent = false;
let onAsked = (): void => {};

beforeEach(async () => {
  [asked, isSilent] = [[], false];
  const registry = await temporaryServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    if (!isSilent) response.writeHead(404).end("{}");
    onAsked();
  });
  address = new URL(registry).host;
});

/** A project with that many packages, whose .npmrc asks npm for variables. */
function project(packages: number, ...variables: readonly string[]): string {
  const folder = temporaryFolder("project");
  for (let index = 0; index < packages; index += 1) {
    const name = `@toolcrib/package-${index}`;
    mkdirSync(join(folder, "node_modules", name), { recursive: true });
    writeFileSync(join(folder, "node_modules", name, "package.json"), JSON.stringify({ name, version: "0.1.0" }));
  }
  const token = variables.map((variable) => `\${${variable}}`).join("");
  const login = token && `//${address}/:_authToken=${token}\n`;
  writeFileSync(join(folder, ".npmrc"), `registry=http://${address}/\n${login}`);
  return folder;
}

const environment = (extra: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: temporaryFolder("home"),
  ...extra,
});
const urls = (): Set<string> => new Set(asked.map(({ url }) => url));
const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("toolcrib-contracts-"));

describe("npm, in a folder of somebody else", () => {
  test("does not get keys and passwords, which a .npmrc there would send to its registry", async () => {
    const secrets = { OPENAI_API_KEY: "sk-do-not-send", DATABASE_PASSWORD: "do-not-send-either" };
    const find = fromRegistry(project(1, ...Object.keys(secrets)), "latest", environment(secrets));
    await expect(find("@toolcrib/package-0")).rejects.toThrow("the registry has no such version");
    expect(asked.length).toBeGreaterThan(0);
    expect(JSON.stringify(asked)).not.toContain("do-not-send");
  });

  test("gets the token that it logs in with", async () => {
    const find = fromRegistry(project(1, "NPM_TOKEN"), "latest", environment({ NPM_TOKEN: "of-npm" }));
    await expect(find("@toolcrib/package-0")).rejects.toThrow();
    expect(asked[0]?.headers.authorization).toBe("Bearer of-npm");
  });

  test("asks for at most four packages at once, and leaves nothing when it is ended", async () => {
    isSilent = true;
    // Other tests keep folders in the system's own.
    vi.stubEnv("TMPDIR", temporaryFolder("contracts-tmp"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = project(9);
    const stop = new AbortController();
    const found = findProject(folder);
    const find = fromRegistry(folder, "latest", environment(), stop.signal);
    const four = new Promise<void>((resolve) => {
      onAsked = () => {
        if (urls().size === 4) resolve();
      };
    });
    if (!found) throw new Error("no project");
    const comparing = comparePackages(found, find, stop.signal);
    await four;
    expect(left()).toHaveLength(4);
    stop.abort();
    await expect(comparing).rejects.toThrow(/abort/i);
    expect(urls().size).toBe(4);
    expect(left()).toEqual([]);
  });

  test("is asked for a version or a tag, not for a path", () => {
    for (const wanted of ["../other", "./x.tgz", "file:..", "", "-x", "a.tgz"])
      expect(() => fromRegistry(".", wanted, {})).toThrow(RangeError);
  });
});
