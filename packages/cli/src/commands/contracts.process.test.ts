import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ProgramEnd, sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { command } from "../../fixtures/command.ts";
import { name, put, versions, writePackage } from "../../fixtures/packages.ts";

const packed = sharedFolder("packed");
const home = sharedFolder("home");
let registry: Server;
let address = "";

/** The tarballs, written by npm, and a registry that has them. */
beforeAll(async () => {
  const folders = Object.keys(versions).map((version) => {
    const folder = join(packed, `source-${version}`);
    writePackage(folder, version);
    return folder;
  });
  const args = ["pack", ...folders, "--pack-destination", packed, "--loglevel=silent", "--ignore-scripts"];
  execFileSync("npm", args, { cwd: packed, shell: process.platform === "win32" });
  registry = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? "");
    const tarball = /^\/(toolcrib-tools-fs-[\d.]+\.tgz)$/.exec(url)?.[1];
    if (tarball) return void response.end(readFileSync(join(packed, tarball)));
    if (url === `/${name}` || url === "/@toolcrib/moved") return void response.end(JSON.stringify(packument()));
    response.writeHead(url === "/@toolcrib/private" ? 401 : 404).end("{}");
  });
  await new Promise<void>((listening) => registry.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
});
afterAll(() => {
  registry.closeAllConnections();
  registry.close();
});

function packument(): object {
  const published = Object.keys(versions).map((version) => {
    const file = `toolcrib-tools-fs-${version}.tgz`;
    const shasum = createHash("sha1")
      .update(readFileSync(join(packed, file)))
      .digest("hex");
    return [version, { name, version, dist: { tarball: `${address}${file}`, shasum } }] as const;
  });
  const tags = { latest: "0.2.0", next: "0.1.1", old: "0.0.9", damaged: "0.3.0" };
  const dist = { tarball: `${address}toolcrib-tools-fs-0.2.0.tgz`, shasum: "0".repeat(40) };
  const damaged = { "0.3.0": { name, version: "0.3.0", dist } };
  return { name, "dist-tags": tags, versions: { ...Object.fromEntries(published), ...damaged } };
}

let project = "";
const installed = (...rest: string[]): string => join(project, "node_modules", ...rest);
beforeEach(() => {
  project = temporaryFolder("project");
  put(join(project, ".npmrc"), `registry=${address}\n`);
  put(join(project, "package.json"), JSON.stringify({ dependencies: { [name]: "^0.1.0" } }));
  writePackage(installed(name), "0.1.0");
});

function contracts(...args: string[]): Promise<ProgramEnd> {
  return command(["contracts", ...args], { cwd: project, env: { HOME: home, USERPROFILE: home } });
}

describe("contracts, by npm from a registry,", () => {
  test("says what the newest version breaks, and that the caret range does not take it", async () => {
    const { stdout, stderr, code } = await contracts();
    expect({ stdout, stderr, code }).toEqual({
      code: 0,
      stderr: "",
      stdout: `What an upgrade of the installed packages would change
• @toolcrib/tools-fs 0.1.0 -> 0.2.0
    breaking: read_file needs a new argument "encoding". Callers that leave it out get an error.
    tokens of each request with all its tools, estimated: 58 before, 68 after
    what to do: after you have dealt with the breaking changes: package.json has ^0.1.0, which does not accept it: npm install @toolcrib/tools-fs@0.2.0
`,
    });
  });

  test("--to takes a version or a tag", async () => {
    const expected = [
      "• @toolcrib/tools-fs 0.1.0 -> 0.1.1",
      '    new: read_file takes a new optional argument "limit".',
      "    words: read_file is described differently: the tool.",
      "    tokens of each request with all its tools, estimated: 58 before, 76 after",
      "    what to do: package.json has ^0.1.0, which accepts it: npm install @toolcrib/tools-fs@0.1.1",
    ];
    for (const to of ["next", "0.1.1"]) {
      expect((await contracts("--to", to)).stdout.split("\n").slice(1, -1)).toEqual(expected);
    }
    expect((await contracts("--to", "0.1.0")).stdout).toContain("✓ @toolcrib/tools-fs 0.1.0\n");
  });

  test("says so where there is no registry, no such version and no such package", async () => {
    const missing = await contracts("--to", "7.0.0");
    expect(missing.stdout).toContain(
      "✗ @toolcrib/tools-fs 0.1.0: nothing to compare with: the registry has no such version; npm view NAME versions lists them",
    );
    expect(missing.code).toBe(1);
    writePackage(installed("@toolcrib/other"), "0.1.0", "@toolcrib/other");
    expect((await contracts()).stdout).toContain(
      "✗ @toolcrib/other 0.1.0: nothing to compare with: the registry has no such version; npm view NAME versions lists them",
    );
    put(join(project, ".npmrc"), "registry=http://127.0.0.1:9/\n");
    const offline = await contracts();
    expect(offline.stdout).toContain(
      "nothing to compare with: the registry cannot be reached (ECONNREFUSED); --tarballs PATH works without it",
    );
    expect(offline.code).toBe(1);
  });

  test("says so where the registry asks for a login, a tarball is damaged, and there is no npm", async () => {
    expect((await contracts("--to", "damaged")).stdout).toContain(
      "nothing to compare with: npm pack failed (EINTEGRITY): ",
    );
    writePackage(installed("@toolcrib/private"), "0.1.0", "@toolcrib/private");
    expect((await contracts()).stdout).toContain(
      "✗ @toolcrib/private 0.1.0: nothing to compare with: the registry refuses it (E401): log in with npm login",
    );
    const none = await command(["contracts"], { cwd: project, env: { HOME: home, PATH: home } });
    expect(none.stdout).toContain(
      "nothing to compare with: npm was not found on PATH; --tarballs PATH works without it",
    );
  });

  test("compares with no other package than the one it asked for", async () => {
    writePackage(installed("@toolcrib/moved"), "0.1.0", "@toolcrib/moved");
    const { stdout, code } = await contracts();
    expect(stdout).toContain(
      "✗ @toolcrib/moved 0.1.0: nothing to compare with: npm packed another package for this name",
    );
    expect(code).toBe(1);
  });
});
