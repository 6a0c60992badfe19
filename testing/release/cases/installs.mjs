// What a user finds after an install by name, and that it works: packs alone, own registries, the agent, the command.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeVersions, run } from "../../consumers/project.mjs";
import { answerWith } from "../../src/wireReplies.ts";
import { WireServer } from "../../src/wireServer.ts";
import { firstRelease, registry } from "../story.mjs";
import { filesBelow, installedIn, megabytesOf, newUser } from "../user.mjs";

const core = ["@cfworker/json-schema", "@standard-schema/spec", "@toolcrib/core", "@toolcrib/kit"];
/** The dependencies of each pack beside core: nothing else may be installed. */
const packs = {
  "tools-fs": { tools: "createFsTools", brings: ["diff"] },
  "tools-bash": { tools: "createBashTools", brings: [] },
  "tools-search": { tools: "createSearchTools", brings: undefined },
};
const shellCode = /["'](?:node:)?child_process["']/;
const modelSdk = /^(openai|@anthropic-ai|@google|ai$|langchain|@langchain|@openai|@modelcontextprotocol)/;
const globLibrary = /glob|micromatch|picomatch|minimatch/;

const packAlone = (pack, version) => async () => {
  await firstRelease();
  const { tools, brings } = packs[pack];
  const user = await newUser(`alone-${pack}-${version}`, { version });
  await user.install("@toolcrib/core", `@toolcrib/${pack}`);
  const installed = user.installed();
  if (brings) assert.deepEqual(installed, [...core, `@toolcrib/${pack}`, ...brings].sort());
  assert.deepEqual(
    installed.filter((name) => modelSdk.test(name)),
    [],
  );
  if (pack !== "tools-search")
    assert.deepEqual(
      installed.filter((name) => globLibrary.test(name)),
      [],
    );
  if (pack !== "tools-bash") {
    const files = filesBelow(join(user.folder, "node_modules")).filter((file) => /\.[cm]?js$/.test(file));
    const shell = files.filter((file) => shellCode.test(readFileSync(file, "utf8")));
    assert.deepEqual(shell, [], "shell-execution code is installed");
  }
  const results = await user.runBoth(
    { "@toolcrib/core": "ToolRegistry", [`@toolcrib/${pack}`]: tools },
    `return new ToolRegistry(${tools}()).getToolNames().length > 0;`,
  );
  assert.deepEqual(results, [true, true]);
};

const ownRegistry = (version) => async () => {
  await firstRelease();
  const user = await newUser(`registry-${version}`, { version, files: { "notes/a.txt": "one needle\n" } });
  await user.install("@toolcrib/core", "@toolcrib/tools-fs", "@toolcrib/tools-search");
  const results = await user.runBoth(
    {
      "@toolcrib/core": "defineTool, ToolRegistry",
      "@toolcrib/tools-fs": "createFsTools",
      "@toolcrib/tools-search": "createSearchTools",
    },
    `const root = ${JSON.stringify(join(user.folder, "notes"))};
const shout = defineTool({
  name: "shout",
  description: "Says it louder.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => text.toUpperCase(),
});
const registry = new ToolRegistry([...createFsTools({ root }), ...createSearchTools({ root }), shout]);
return {
  read: await registry.execute("read_file", { path: "a.txt" }),
  found: await registry.execute("search_text", { query: "needle", paths: ["."] }),
  own: await registry.execute("shout", { text: "hello" }),
  wrong: await registry.execute("shout", {}),
  outside: await registry.execute("read_file", { path: "../package.json" }),
};`,
  );
  for (const result of results) {
    assert.equal(result.read, "one needle\n");
    assert.equal(result.found, "a.txt:1:one needle");
    assert.equal(result.own, "HELLO");
    assert.match(result.wrong, /^Error executing shout: Invalid arguments: text/);
    assert.match(result.outside, /^Error executing read_file: Permission denied/);
  }
};

/** `defaults` and the SDK of one service: the agent works with that one, and says what to install for another. */
const withOneSdk = (version) => async () => {
  await firstRelease();
  const user = await newUser(`sdk-${version}`, { version, files: { "a.txt": "from the file\n" } });
  await user.install("@toolcrib/defaults", "@toolcrib/agent", "openai");
  assert.deepEqual(
    user.installed().filter((name) => modelSdk.test(name)),
    ["openai"],
  );
  const wire = await WireServer.start();
  try {
    for (const kind of ["esm", "cjs"]) {
      wire.script(
        answerWith({ calls: [{ id: `call_${kind}`, name: "read_file", args: '{"path":"a.txt"}' }] }),
        answerWith({ text: `read it by ${kind}` }),
      );
    }
    const results = await user.runBoth(
      {
        "@toolcrib/agent/anthropic": "AnthropicProvider",
        "@toolcrib/agent/openai": "OpenAIProvider",
        "@toolcrib/defaults": "Agent",
      },
      `const agent = new Agent(new OpenAIProvider({ model: "gpt-6-luna", apiKey: "key", baseURL: "${wire.url}/v1" }));
const answer = await agent.chat("what does a.txt say?");
const result = agent.sessionContext.find(({ role }) => role === "tool").output;
const other = await new Agent(new AnthropicProvider({ apiKey: "key" })).chat("hello").catch((error) => error.message);
return { answer, result, other };`,
    );
    assert.deepEqual(wire.problems(), []);
    assert.deepEqual(
      results.map(({ answer }) => answer),
      ["read it by esm", "read it by cjs"],
    );
    for (const { result, other } of results) {
      assert.equal(result, "from the file\n");
      assert.match(other, /npm install @anthropic-ai\/sdk/);
    }
  } finally {
    await wire.close();
  }
};

/** Installed globally, all packages through the one registry. */
const command = (version) => async () => {
  const checkout = await firstRelease();
  const { url } = await registry();
  const user = await newUser(`command-${version}`, { version, files: { "work/a.txt": "one needle\n" } });
  const prefix = join(user.folder, "prefix");
  mkdirSync(prefix);
  await user.npm("install", "--global", "--prefix", prefix, "--registry", url, "@toolcrib/cli");
  const bin = join(prefix, "bin/toolcrib");
  const env = { ...user.env, HOME: user.folder };
  const { stdout: told } = await run(user.folder, bin, ["--version"], { env });
  assert.equal(told.trim(), checkout.packages()["@toolcrib/cli"].version);
  const { stdout: read } = await run(
    join(user.folder, "work"),
    bin,
    ["tools", "call", "read_file", '{"path":"a.txt"}'],
    {
      env,
    },
  );
  assert.equal(read, "one needle\n");
  const { stdout: answer } = await run(join(user.folder, "work"), bin, ["run", "find needle in ."], { env });
  assert.match(answer, /a\.txt/);
  // It holds the SDKs, which nothing else of its installation brings.
  const server = await WireServer.start();
  const keys = { OPENAI_API_KEY: "none", ANTHROPIC_API_KEY: "none" };
  for (const [model, address] of [
    ["openai/gpt-5.2", `${server.url}/v1`],
    ["anthropic/claude-sonnet-5", server.url],
  ]) {
    server.script(answerWith({ text: `read it by ${model}` }));
    const words = ["run", "hi", "-m", model, "--base-url", address];
    const { stdout } = await run(join(user.folder, "work"), bin, words, { env: { ...env, ...keys } });
    assert.match(stdout, new RegExp(`read it by ${model}`));
  }
  await server.close();
};

const everything = "adapters agent core defaults kit policy remote skills tools-bash tools-fs tools-search".split(" ");
const sizes = (name, packages, limits) => async () => {
  const checkout = await firstRelease();
  if (packages.length > 1) {
    const known = [...packages, "acp", "cli", "contracts", "mcp", "page", "durable", "tools-web", "tools-program"].map(
      (each) => `@toolcrib/${each}`,
    );
    assert.deepEqual(
      Object.keys(checkout.packages()).filter((each) => !known.includes(each)),
      [],
      "a package is in no goal of size",
    );
  }
  const user = await newUser(`size-${name}`);
  await user.install(...packages.map((each) => `@toolcrib/${each}`));
  const modules = join(user.folder, "node_modules");
  const [count, size] = [installedIn(modules).length, megabytesOf(modules)];
  assert.ok(count <= limits.packages, `${count} packages, at most ${limits.packages}: ${installedIn(modules)}`);
  assert.ok(size <= limits.megabytes, `${size.toFixed(2)} MB, at most ${limits.megabytes}`);
  return `${count} packages, ${size.toFixed(2)} MB`;
};

const { oldest, current, newest } = nodeVersions;
export const installs = [
  [
    `core and tools-fs alone, Node ${oldest}: no shell code, glob library or SDK`,
    packAlone("tools-fs", oldest),
    { short: true },
  ],
  [`core and tools-fs alone, Node ${current}: no shell code, glob library or SDK`, packAlone("tools-fs", current)],
  [
    `core and tools-fs alone, Node ${newest}: no shell code, glob library or SDK`,
    packAlone("tools-fs", newest),
    { short: true },
  ],
  ["core and tools-bash alone: no glob library or SDK", packAlone("tools-bash", current), { short: true }],
  ["core and tools-search alone: no shell code or SDK", packAlone("tools-search", current), { short: true }],
  ...[oldest, current, newest].map((version) => [
    `a registry of two packs and an own tool, Node ${version}`,
    ownRegistry(version),
    { short: version === newest },
  ]),
  ...[oldest, current, newest].map((version) => [
    `defaults with one SDK, Node ${version}`,
    withOneSdk(version),
    { short: version === oldest },
  ]),
  ...[oldest, current, newest].map((version) => [
    `the command installed globally, Node ${version}`,
    command(version),
    { short: version === oldest },
  ]),
  ["core has at most 3 packages and 1 MB", sizes("core", ["core"], { packages: 3, megabytes: 1 }), { short: true }],
  [
    "everything but SDKs, MCP, durable, the web and the command has at most 36 packages and 5 MB",
    sizes("everything", everything, { packages: 36, megabytes: 5 }),
    { short: true },
  ],
];
