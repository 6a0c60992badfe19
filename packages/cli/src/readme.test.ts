import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { answerWith, compileCache, sharedFolder, WireServer } from "@toolcrib/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The README of the repository, and the page of the site with the programs that have no room in it. */
const readme = ["README.md", "docs/src/content/docs/loops/plain.md"]
  .map((path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"))
  .join("\n");
const examples = [...readme.matchAll(/^```ts title=(\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));

/** What each example prints, and how many conversations with a model it holds. */
const expected: Readonly<Record<string, { prints: RegExp; conversations?: number }>> = {
  "files.ts": {
    prints:
      /package\.json\nsrc\/\n[\s\S]*^Error executing read_file: Permission denied: \.\.\/secret\.txt is outside [\s\S]*^Tool not found: read_fil\. Did you mean read_file\?$/m,
  },
  "agent.ts": {
    prints: /^calls search_text \{ query: 'TODO', paths: \[ 'src' \] \}\n[\s\S]*src\/a\.ts:1:\/\/ TODO: one/,
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
let wire: WireServer;
beforeAll(async () => {
  wire = await WireServer.start();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "a.ts"), "// TODO: one\n");
  writeFileSync(join(folder, "note.txt"), "heron\n");
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
afterAll(async () => {
  await wire.close();
});

/** Runs an example as a user would: a file of its own, in a folder of its own, by Node alone. */
function run(name: string): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  const args = ["--import", pathToFileURL(join(folder, "toLoopback.mjs")).href, name];
  const env = {
    ...{ PATH: process.env.PATH, ...compileCache, NODE_NO_WARNINGS: "1" },
    ...{ OPENAI_API_KEY: "test-key", ANTHROPIC_API_KEY: "test-key", OPENROUTER_API_KEY: "test-key" },
  };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, stderr }),
    );
  });
}

test("the README has an example for each thing it must show", () => {
  expect(examples.map(({ name }) => name)).toEqual(Object.keys(expected));
});

test.each(examples)("the README's $name runs as it stands and prints what it should", async ({ name, code }) => {
  const { prints, conversations = 0 } = expected[name] ?? { prints: /never/ };
  wire.reset();
  for (let count = 0; count < conversations; count += 1) {
    wire.script(
      answerWith({ calls: [{ name: "read_file", args: '{"path":"note.txt"}' }] }),
      answerWith({ text: "The note says heron." }),
    );
  }
  writeFileSync(join(folder, name), code);
  const { failed, stdout, stderr } = await run(name);
  expect(stderr).toBe("");
  expect(stdout).toMatch(prints);
  expect(failed).toBe(false);
  expect(wire.problems()).toEqual([]);
  expect(wire.requests).toHaveLength(2 * conversations);
  for (const [index, request] of wire.requests.entries()) if (index % 2 === 1) expect(request.text).toContain("heron");
});

test("the README's examples pass the type checker", () => {
  for (const { name, code } of examples) writeFileSync(join(folder, name), code);
  const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
  const flags = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", "--skipLibCheck"];
  const types = ["--types", "node", "--typeRoots", join(modules, "@types")];
  const tsc = join(modules, "typescript", "bin", "tsc");
  const run = spawnSync(process.execPath, [tsc, ...flags, ...types, ...examples.map(({ name }) => name)], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(run.stdout).toBe("");
  expect(run.status).toBe(0);
});

const cliReadme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const permissionExamples = [
  ...cliReadme.matchAll(/^toolcrib ((?:run|chat|permissions) .*--(?:allow|deny).*|permissions (?:list|explain).*)$/gm),
];

test("the command's README shows rules that are accepted", async () => {
  expect(permissionExamples).toHaveLength(4);
  const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
  for (const [, words = ""] of permissionExamples) {
    const model = /^(?:run|chat)/.test(words) ? " -m offline" : "";
    const line = `"$0" "$1" ${words.replace(/ +#.*$/, "")}${model} < /dev/null`;
    const env = { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: join(folder, "state") };
    const { status, stderr } = spawnSync("sh", ["-c", line, process.execPath, bin], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    // The stand-in does not understand the task, which is 3.
    expect({ line, status, stderr: status === 2 ? stderr : "" }).toEqual({
      line,
      status: words.startsWith("run") ? 3 : 0,
      stderr: "",
    });
  }
});
