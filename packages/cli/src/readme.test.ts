import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { answerWith, compileCache, sharedFolder, sharedWireServer } from "@toolcrib/testing";
import { BlockRunner } from "@toolcrib/testing/blockRunner";
import { readExamples, runProgram } from "@toolcrib/testing/examples";
import type { Command } from "commander";
import { beforeAll, expect, test } from "vitest";
import { command } from "../fixtures/command.ts";
import { createCommands } from "./commands/commands.ts";
import { flagLoaders } from "./commands/defineCommand.ts";

/** The README of the repository, and the page of the site with the programs that have no room in it. */
const pages = { readme: "README.md", plain: "docs/src/content/docs/loops/plain.md" };
const blocks = Object.entries(pages).flatMap(([page, path]) =>
  readExamples(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")).flatMap(
    ({ language, title, code }) => (title === undefined ? [] : [{ page, language, name: title, code }]),
  ),
);
const examples = blocks.filter(({ language }) => language === "ts");

/** The output of each example, and the number of its conversations with a model. */
const expected: Readonly<Record<string, { prints: RegExp; conversations?: number }>> = {
  "files.ts": {
    prints:
      /^files\.ts\n[\s\S]*^Error executing read_file: Permission denied: \.\.\/secret\.txt is outside [\s\S]*^Tool not found: read_fil\. Did you mean read_file\?$/m,
  },
  "agent.ts": {
    prints: /^calls search_text \{ query: 'OfflineProvider', paths: \[ 'agent\.ts' \] \}\n[\s\S]*agent\.ts:1:import/,
  },
  "tool.ts": { prints: /^12\nError executing roll_dice: Invalid arguments: count: / },
  "test.ts": { prints: /pass 1\n[\s\S]*fail 0\n/ },
  "openai.ts": { prints: /^The note says heron\.\n$/, conversations: 1 },
  "anthropic.ts": { prints: /^The note says heron\.\n$/, conversations: 1 },
  "registry.ts": { prints: /Permission denied: this agent only reads/ },
  "providers.ts": {
    prints: /^(?:(?:openai|anthropic|openrouter|openai-compatible) The note says heron\.\n){4}$/,
    conversations: 4,
  },
};

const folder = sharedFolder("readme");
const runner = new BlockRunner(["--import", pathToFileURL(join(folder, "toLoopback.mjs")).href]);
const wire = await sharedWireServer();
beforeAll(() => {
  for (const page of Object.keys(pages)) mkdirSync(join(folder, page));
  // A page is a folder that has what the page itself makes.
  for (const { page, name, code } of blocks) writeFileSync(join(folder, page, name), code);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  // What a user has after installing the packages and both SDKs.
  mkdirSync(join(folder, "node_modules"));
  const link = (name: string, target: string): void =>
    symlinkSync(fileURLToPath(new URL(target, import.meta.url)), join(folder, "node_modules", name), "junction");
  link("@toolcrib", "../..");
  for (const name of ["openai", "@anthropic-ai"]) link(name, `../node_modules/${name}`);
  writeFileSync(
    join(folder, "toLoopback.mjs"),
    `const fetched = globalThis.fetch;
     globalThis.fetch = (url, init) => fetched(String(url).replace(/^https?:\\/\\/[^/]*(?:\\/api)?/, ${JSON.stringify(wire.url)}), init);`,
  );
});

test("the README has an example for each thing it must show", () => {
  expect(examples.map(({ name }) => name)).toEqual(Object.keys(expected));
});

test.each(examples)("the README's $name runs as it stands and prints what it should", async ({ page, name }) => {
  const { prints, conversations = 0 } = expected[name] ?? { prints: /never/ };
  for (let count = 0; count < conversations; count += 1) {
    wire.script(
      answerWith({ calls: [{ name: "read_file", args: '{"path":"note.txt"}' }] }),
      answerWith({ text: "The note says heron." }),
    );
  }
  const cwd = join(folder, page);
  const env = {
    ...{ PATH: process.env.PATH, ...compileCache, NODE_NO_WARNINGS: "1" },
    ...{ OPENAI_API_KEY: "test-key", ANTHROPIC_API_KEY: "test-key", OPENROUTER_API_KEY: "test-key" },
  };
  // A file of tests is a process.
  const end = await (name === "test.ts"
    ? runProgram(process.execPath, [name], { cwd, env })
    : runner.run(name, cwd, env));
  expect(end).toMatchObject({ errors: "", code: 0 });
  expect(end.out).toMatch(prints);
  expect(wire.requests).toHaveLength(2 * conversations);
  for (const [index, request] of wire.requests.entries()) if (index % 2 === 1) expect(request.text).toContain("heron");
});

const cliReadme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const permissionExamples = [
  ...cliReadme.matchAll(
    /^toolcrib (?:(?:run|chat|permissions) .*(--(?:allow|deny).*)|permissions (list|explain)(.*))$/gm,
  ),
];
test("every flag that the command's README and its pages name is one that a command parses", async () => {
  const flags = new Set(["--help", "--version"]);
  const visit = async (one: Command): Promise<void> => {
    await flagLoaders.get(one)?.();
    for (const { long } of one.options) if (long) flags.add(long);
    for (const child of one.commands) await visit(child);
  };
  await visit(createCommands(process, () => Promise.reject(new Error("nothing runs")), String));
  const guides = ["command", "chat", "scripting", "configuration", "container", "editors"].map(
    (name) => `../../../docs/src/content/docs/guides/${name}.md`,
  );
  // Of other programs, arguments of tools, and one that is shown to be wrong.
  const others =
    /^--(?:global|ignore-scripts|build-arg|write|exit-status|raw-output|install|query|paths?|name|value|max.results|max-stps)$/;
  for (const path of ["../README.md", ...guides]) {
    const text = readFileSync(new URL(path, import.meta.url), "utf8");
    const named = [...text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([flag]) => flag);
    expect(
      named.filter((flag) => !flags.has(flag) && !others.test(flag)),
      path,
    ).toEqual([]);
  }
  expect(flags.size).toBeGreaterThan(40);
});

test("the command's README shows rules that are accepted", async () => {
  expect(permissionExamples).toHaveLength(4);
  for (const [line, flags = "", verb = "list", rest = ""] of permissionExamples) {
    const words = `${flags}${rest}`.replace(/ +#.*$/, "").match(/'[^']*'|[^\s']+/g) ?? [];
    const args = ["permissions", verb, ...words.map((word) => word.replace(/^'|'$/g, ""))];
    const { code, stderr } = await command(args, { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state") } });
    expect({ line, code, stderr: code === 0 ? "" : stderr }).toEqual({ line, code: 0, stderr: "" });
  }
});
