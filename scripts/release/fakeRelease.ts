// A checkout of two packages, with a packAll.mjs whose tarballs differ by commit, and a registry on loopback with an npm that only
// this checkout sees. As on npm, a first version is `latest` at once.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { onTestFinished } from "vitest";

interface Published {
  readonly tags: Record<string, string>;
  readonly versions: Record<string, string>;
}

/** The end of a release script, and all its output. */
interface Ended {
  readonly status: number | null;
  readonly said: string;
}

const releaseScripts = fileURLToPath(new URL(".", import.meta.url));

const packAll = `import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const [folder, ...names] = process.argv.slice(2);
const commit = readFileSync(new URL("../COMMIT", import.meta.url), "utf8");
const overrides = names.map((name) => {
  const file = join(folder, name.replace("/", "+"));
  writeFileSync(file, name + " of " + commit);
  return [name, "file:" + file];
});
writeFileSync(join(folder, "overrides.json"), JSON.stringify(Object.fromEntries(overrides)));
`;

const fakeNpm = `const body = JSON.stringify(process.argv.slice(2));
const answer = await fetch(process.env.FAKE_REGISTRY + "-/npm", { method: "POST", body });
console.log(await answer.text());
process.exit(answer.ok ? 0 : 1);
`;

/** Questions about its configuration need no program. */
const fakeNpmOf = (bin: string): string => `#!/bin/sh
case "$1 $3" in
"config registry") echo "$FAKE_REGISTRY" ;;
config*) echo undefined ;;
*) exec node "${join(bin, "fakeNpm.mjs")}" "$@" ;;
esac
`;

export const integrityOf = (name: string, commit: string): string =>
  `sha512-${createHash("sha512").update(`${name} of ${commit}`).digest("base64")}`;

export class FakeRelease {
  readonly folder: string = temporaryFolder("release");
  readonly packages: Record<string, Published> = {};
  /** The calls of npm, without questions about its configuration. */
  readonly commands: string[] = [];
  /** Happens while npm waits for the second factor, before it does what it was told. An error lets npm fail. */
  beforeCommand: (command: string) => void = () => {};
  #url = "";

  async start(versions: Readonly<Record<"core" | "fs", string>>, commit: string): Promise<this> {
    const bin = join(this.folder, "bin");
    for (const each of ["bin", ".changeset", "packages/core", "packages/fs"])
      mkdirSync(join(this.folder, each), { recursive: true });
    cpSync(releaseScripts, join(this.folder, "scripts/release"), { recursive: true });
    writeFileSync(join(this.folder, "scripts/packAll.mjs"), packAll);
    writeFileSync(join(bin, "fakeNpm.mjs"), fakeNpm);
    writeFileSync(join(bin, "npm"), fakeNpmOf(bin), { mode: 0o755 });
    this.checkOut(versions, commit);
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (piece) => {
        body += piece;
      });
      request.on("end", () => {
        const [status, text] = this.#answer(decodeURIComponent(request.url ?? ""), body);
        response.writeHead(status).end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return this;
  }

  checkOut({ core, fs }: Readonly<Record<"core" | "fs", string>>, commit: string): void {
    const write = (name: string, manifest: object) =>
      writeFileSync(join(this.folder, `packages/${name}/package.json`), JSON.stringify(manifest));
    write("core", { name: "@toolcrib/core", version: core });
    write("fs", { name: "@toolcrib/fs", version: fs, dependencies: { "@toolcrib/core": `^${core}` } });
    writeFileSync(join(this.folder, "COMMIT"), commit);
  }

  /** Lets the registry have versions of a package, built from `commit`. */
  has(name: string, tags: Record<string, string>, commits: Readonly<Record<string, string>>): void {
    const versions = Object.entries(commits).map(([version, commit]) => [version, integrityOf(name, commit)]);
    this.packages[name] = { tags, versions: Object.fromEntries(versions) };
  }

  async run(
    script: "publish" | "promote" | "mode",
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Ended> {
    const child = spawn(process.execPath, [join(this.folder, `scripts/release/${script}.mjs`), ...args], {
      env: {
        ...process.env,
        PATH: [join(this.folder, "bin"), process.env.PATH].join(delimiter),
        FAKE_REGISTRY: this.#url,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece) => {
        said += piece;
      });
    const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { status, said };
  }

  #answer(path: string, body: string): [number, string] {
    if (path === "/-/npm") {
      try {
        return [200, this.#npm(JSON.parse(body))];
      } catch (error) {
        return [500, String(error)];
      }
    }
    const found = this.packages[path.slice(1)];
    if (!found) return [404, "{}"];
    const versions = Object.entries(found.versions).map(([version, integrity]) => [version, { dist: { integrity } }]);
    return [200, JSON.stringify({ "dist-tags": found.tags, versions: Object.fromEntries(versions) })];
  }

  #npm(args: readonly string[]): string {
    const command = args.join(" ");
    this.beforeCommand(command);
    this.commands.push(command);
    if (args[0] !== "dist-tag") throw new Error(`this npm cannot ${command}`);
    const [, name = "", version = ""] = /^(@[^@]+)@(.+)$/.exec(args[2] ?? "") ?? [];
    const tags = this.packages[name]?.tags ?? {};
    tags[args[3] ?? ""] = version;
    return `+${args[3]}: ${name}@${version}`;
  }
}
