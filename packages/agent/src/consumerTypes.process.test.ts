import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const require = createRequire(import.meta.url);
const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");

const folder = sharedFolder("consumer");
beforeAll(() => {
  const install = (name: string, from: string, ...parts: readonly string[]): void => {
    const target = join(folder, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    // Copied, so that nothing beside it (such as @types/node) is found.
    for (const part of parts) cpSync(join(from, part), join(target, part), { recursive: true, dereference: true });
  };
  for (const name of ["core", "agent"]) install(`@toolcrib/${name}`, here(`../../${name}`), "package.json", "dist");
  install("@standard-schema/spec", here("../../core/node_modules/@standard-schema/spec"), ".");
  install("openai", here("../node_modules/openai-6"), ".");
  install("@anthropic-ai/sdk", here("../node_modules/anthropic-sdk-0"), ".");
});

async function problemsOf(source: string, kind: "module" | "commonjs", ...flags: readonly string[]): Promise<string> {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: kind }));
  writeFileSync(join(folder, "main.ts"), source);
  const args = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "",
    ...flags,
    "main.ts",
  ];
  return promisify(execFile)(process.execPath, [compiler, ...args], { cwd: folder }).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const plain = `
  import { Agent, type AgentEvent, chatObject, fallbackProvider, listSessions } from "@toolcrib/agent";
  import { OfflineProvider } from "@toolcrib/agent/offline";
  import { ScriptedProvider, testProvider } from "@toolcrib/agent/testing";
  const agent = new Agent(new OfflineProvider(), { maxToolResultBytes: 5 });
  export const events: AsyncGenerator<AgentEvent, void> = agent.streamChat("hi");
  export const answer: Promise<{ a: string }> = chatObject(agent, "x", {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
  });
  export const others = [fallbackProvider, listSessions, ScriptedProvider, testProvider];
`;

const withSdks = `
  import Anthropic from "@anthropic-ai/sdk";
  import { AnthropicProvider } from "@toolcrib/agent/anthropic";
  import { OpenAIProvider } from "@toolcrib/agent/openai";
  import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
  import { OpenRouterProvider } from "@toolcrib/agent/openrouter";
  import OpenAI from "openai";
  const client = new OpenAI({ apiKey: "x" });
  export const providers = [
    new OpenAIProvider({ client }),
    new OpenRouterProvider({ client }),
    new OpenAICompatibleProvider({ client, model: "m" }),
    new AnthropicProvider({ client: new Anthropic({ apiKey: "x" }) }),
  ];
`;

test.each(["module", "commonjs"] as const)("the published types compile without @types/node (%s)", async (kind) => {
  expect(await problemsOf(plain, kind, "--skipLibCheck", "false")).toBe("");
});

test.each(["module", "commonjs"] as const)("ready clients of the oldest SDKs are accepted (%s)", async (kind) => {
  expect(await problemsOf(withSdks, kind, "--skipLibCheck")).toBe("");
});

test("the check itself finds a wrong type", async () => {
  expect(await problemsOf(`${plain}export const wrong: number = agent.usage;`, "module")).toContain("TS2322");
});
