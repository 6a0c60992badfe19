import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answerWith, jsonOf, sharedFolder, sharedWireServer } from "@toolcrib/testing";
import { expect, test } from "vitest";

const server = await sharedWireServer();
const folder = sharedFolder("minified");

/** The bundler that the build uses. */
interface Esbuild {
  build(options: object): Promise<unknown>;
}
const require = createRequire(import.meta.url);
const esbuild = createRequire(require.resolve("tsup"))("esbuild") as Esbuild;
const sourceOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Prints the codes of the retries and the answer, for a server that fails and for a connection error without a code. */
const program = `
  import { Agent } from "./agent.ts";
  import { AnthropicProvider } from "./providers/anthropic/anthropic.ts";
  import { OpenAIProvider } from "./providers/openai/openai.ts";
  const [url, wire] = process.argv.slice(2);
  const options = { apiKey: "sk-minified-012345", baseURL: wire === "openai" ? url + "/v1" : url };
  const agent = new Agent(wire === "openai" ? new OpenAIProvider(options) : new AnthropicProvider(options), { baseDelayMs: 1 });
  const own = globalThis.fetch;
  globalThis.fetch = () => {
    globalThis.fetch = own;
    throw new Error("a reason without a code");
  };
  for await (const event of agent.streamChat("Hello")) {
    if (event.type === "retry") console.log(event.message);
    if (event.type === "end") console.log(event.text);
  }
`;

test("in a minified bundle, without names of classes, the providers still tell failures apart and try again", async () => {
  const outfile = join(folder, "bundle.mjs");
  await esbuild.build({
    stdin: { contents: program, resolveDir: sourceOf(".."), loader: "ts" },
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node22",
    alias: {
      "@toolcrib/core/text": sourceOf("../../../core/src/text.ts"),
      "@toolcrib/core/internal": sourceOf("../../../core/src/internal.ts"),
      "@toolcrib/kit/text": sourceOf("../../../kit/src/text.ts"),
      "@toolcrib/kit/files": sourceOf("../../../kit/src/files.ts"),
      "@toolcrib/core": sourceOf("../../../core/src/index.ts"),
    },
    logLevel: "silent",
  });
  for (const wire of ["openai", "anthropic"]) {
    server.reset();
    server.script(
      { chunks: [], refuse: true },
      jsonOf({ error: { message: "oh" } }, { status: 500 }),
      answerWith({ text: "At last." }),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, server.url, wire]);
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/^The connection to .* was lost/),
      expect.stringMatching(/^The connection to .* was lost \(UND_ERR_SOCKET\)/),
      expect.stringMatching(/^\w+ failed \(500\): oh\./),
      "At last.",
    ]);
  }
});

test("a missing SDK is an error that names the install command", async () => {
  const alone = join(folder, "alone");
  cpSync(new URL("..", import.meta.url), join(alone, "src"), { recursive: true });
  // By a link, as Node runs no TypeScript below node_modules.
  mkdirSync(join(alone, "node_modules", "@toolcrib"), { recursive: true });
  for (const name of ["core", "kit"]) {
    const own = new URL(`../../../${name}/`, import.meta.url);
    cpSync(new URL("src", own), join(alone, name, "src"), { recursive: true });
    const exports = { ".": "./src/index.ts", "./*": "./src/*.ts" };
    writeFileSync(join(alone, name, "package.json"), JSON.stringify({ type: "module", exports }));
    if (name === "core") symlinkSync(new URL("node_modules", own), join(alone, name, "node_modules"), "junction");
    symlinkSync(join(alone, name), join(alone, "node_modules", "@toolcrib", name), "junction");
  }
  const script = `
    import { OpenAIProvider } from "./src/providers/openai/openai.ts";
    import { AnthropicProvider } from "./src/providers/anthropic/anthropic.ts";
    const request = { systemPrompt: "", messages: [], tools: [], signal: new AbortController().signal };
    for (const Provider of [OpenAIProvider, AnthropicProvider]) {
      try { for await (const event of new Provider({ apiKey: "sk-x-000000" }).send(request)); }
      catch (error) { console.log(error.code, error.message); }
    }`;
  writeFileSync(join(alone, "run.ts"), script);
  writeFileSync(join(alone, "package.json"), '{"type":"module"}');
  const { stdout } = await promisify(execFile)(process.execPath, [join(alone, "run.ts")]);
  const [openai, anthropic] = stdout.trim().split("\n");
  expect(openai).toMatch(/^missing_sdk .*Run: npm install openai$/);
  expect(anthropic).toMatch(/^missing_sdk .*Run: npm install @anthropic-ai\/sdk$/);
});
