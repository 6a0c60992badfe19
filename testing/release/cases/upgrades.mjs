// What an upgrade brings to whom: pinned, by caret, by a lockfile; and two versions of core in one tree.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { firstRelease, release, stableRelease } from "../story.mjs";
import { newUser } from "../user.mjs";

const pack = "@toolcrib/tools-fs";

/** Prints what a model would read. */
const schemas = `import { createFsTools } from "${pack}";
console.log(JSON.stringify(createFsTools().map((tool) => tool.getSchema())));
`;

/** Users with a pinned version, with a caret, and with a caret and a lockfile. */
async function users(label) {
  const files = { "schemas.mjs": schemas };
  const install = async (who, ...args) => (await newUser(`${label}-${who}`, { files })).install(...args, pack);
  const [pinned, caret, locked] = await Promise.all([
    install("pinned", "--save-exact"),
    install("caret"),
    install("locked"),
  ]);
  return { pinned, caret, locked };
}

/** The next versions of one pack, each published and promoted, and what `npm update` gives to whom: `[size, version, caret's]`. */
async function walk(checkout, label, steps) {
  const start = checkout.packages()[pack].version;
  const { pinned, caret, locked } = await users(label);
  assert.equal(caret.rangeOf(pack), `^${start}`);
  assert.equal(pinned.rangeOf(pack), start);
  const read = JSON.stringify(await pinned.run("schemas.mjs"));
  for (const [size, version, forCaret] of steps) {
    checkout.rewordTool(version);
    await checkout.makeVersions({ [pack]: size });
    assert.equal(checkout.packages()[pack].version, version);
    await release(checkout);
    rmSync(join(locked.folder, "node_modules"), { recursive: true });
    await Promise.all([pinned.npm("update"), caret.npm("update"), locked.npm("ci")]);
    assert.equal(caret.versionOf(pack), forCaret, `what ^${start} takes after ${version}`);
    const caretReads = JSON.stringify(await caret.run("schemas.mjs"));
    assert.ok(caretReads.includes(`(as of ${forCaret})`), "the new version is not the one that was published");
    for (const user of [pinned, locked]) {
      assert.equal(user.versionOf(pack), start);
      assert.equal(JSON.stringify(await user.run("schemas.mjs")), read, "what the model reads has changed");
    }
  }
}

async function belowOne() {
  await walk(await firstRelease(), "below", [
    ["patch", "0.1.1", "0.1.1"],
    ["minor", "0.2.0", "0.1.1"],
    ["patch", "0.2.1", "0.1.1"],
  ]);
}

async function fromOne() {
  await walk(await stableRelease(), "stable", [
    ["patch", "1.0.1", "1.0.1"],
    ["minor", "1.1.0", "1.1.0"],
    ["major", "2.0.0", "1.1.0"],
  ]);
}

/** A pack of before 1.0 beside a core of after it: each has its own. */
async function twoCores() {
  await stableRelease();
  const user = await newUser("two-cores", { files: { "a.txt": "from the file\n", "main.mjs": bothCores } });
  await user.install("@toolcrib/core@1.0.0", `${pack}@0.1.0`, "@toolcrib/defaults@0.1.0");
  assert.equal(user.versionOf("@toolcrib/core"), "1.0.0");
  assert.equal(user.versionOf("@toolcrib/core", pack), "0.1.0");
  assert.equal(user.versionOf("@toolcrib/core", "@toolcrib/defaults"), "0.1.0");
  assert.deepEqual(await user.run("main.mjs"), {
    differentCores: true,
    // Tools of the old core in a registry of the new one.
    read: "from the file\n",
    data: true,
    thrown: { recognised: true, ofThisCore: false, code: "permission_denied" },
    // Tools and errors of the new core in a registry of the old one.
    own: "done",
    refused: "Error executing own: Invalid arguments: word: is not wanted",
    code: "invalid_arguments",
    denied: "permission_denied",
  });
}

const bothCores = `import { createRequire } from "node:module";
import * as core from "@toolcrib/core";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { createFsTools } from "${pack}";

const oldCore = createRequire(import.meta.resolve("${pack}"))("@toolcrib/core");
const registry = new core.ToolRegistry(createFsTools({ root: "." }));
const thrown = await createFsTools({ root: "." })
  .find(({ name }) => name === "read_file")
  .execute({ path: "../outside.txt" })
  .catch((error) => error);
const read = await registry.invoke("read_file", { path: "a.txt" });
const denied = await registry.invoke("read_file", { path: "../outside.txt" });

const old = createDefaultToolRegistry(undefined, { root: "." });
old.register(
  core.defineTool({
    name: "own",
    description: "Takes a word.",
    parameters: { type: "object", properties: { word: { type: "string" } } },
    execute: ({ word }) => {
      if (word === "bad") throw core.invalidArgument("word", "is not wanted");
      return core.toolOutput("done", { data: { word } });
    },
  }),
);
const refused = await old.invoke("own", { word: "bad" });
console.log(
  JSON.stringify({
    differentCores: oldCore.ToolRegistry !== core.ToolRegistry,
    read: read.output,
    data: read.data !== undefined,
    thrown: { recognised: core.isToolError(thrown), ofThisCore: thrown instanceof core.ToolError, code: thrown.code },
    own: await old.execute("own", { word: "good" }),
    refused: await old.execute("own", { word: "bad" }),
    code: refused.error?.code,
    denied: denied.error?.code,
  }),
);
`;

export const upgradesBelowOne = [["below 1.0: pinned gets nothing new, a caret patches alone", belowOne]];
export const upgrades = [
  ["from 1.0.0: pinned gets nothing new, a caret the patch and the minor, never the major", fromOne, { short: true }],
  ["two versions of core in one tree recognise each other's tools and errors", twoCores, { short: true }],
];
