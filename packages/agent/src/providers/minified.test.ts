import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sharedFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { answerWith, jsonOf, sharedWireServer } from "../../../../testing/src/index.ts";

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
