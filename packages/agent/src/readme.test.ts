import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { ScriptedProvider, type ScriptedReply } from "./testing.ts";

const texts = ["../README.md", "../../../docs/src/content/docs/guides/agent.md"].map((path) =>
  readFileSync(new URL(path, import.meta.url), "utf8"),
);

let folder: string;
const paid: string[] = [];
beforeEach(() => {
  folder = temporaryFolder("readme");
  paid.length = 0;
});

/** The first life of the model pays, its second one answers. */
const payments: ScriptedReply[][] = [
  [{ calls: [{ name: "pay", args: { to: "Ann", amount: 5 } }] }, "Paid."],
  ["Paid."],
];

/** Provides what the examples import, with a model that answers by these scripts, one for each of its lives. */
function modules(asked: string[], given: readonly ScriptedReply[][]): Record<string, () => unknown> {
  const scripts = [...given];
  class AnthropicProvider extends ScriptedProvider {
    constructor() {
      super(scripts.shift() ?? []);
    }
  }
  const question = (text: string): string => (asked.push(text) > 0 ? "y" : "");
  return {
    "@toolcrib/agent": () => import("./index.ts"),
    "@toolcrib/core": () => import("@toolcrib/core"),
    "@toolcrib/agent/anthropic": () => ({ AnthropicProvider }),
    "node:readline/promises": () => ({ createInterface: () => ({ question }) }),
  };
}

function registryThatPays(): ToolRegistry {
  return new ToolRegistry([
    defineTool({
      name: "pay",
      description: "Pays.",
      parameters: { type: "object", properties: { to: { type: "string" }, amount: { type: "number" } } },
      execute: ({ to, amount }) => String(paid.push(`${amount} to ${to}`)),
    }),
  ]);
}

/** Runs the example that holds `mark` and answers its variable `answer`. */
async function runExample(
  mark: string,
  registry: ToolRegistry,
  asked: string[],
  scripts: readonly ScriptedReply[][] = payments,
): Promise<unknown> {
  const examples = texts.flatMap((text) => [...text.matchAll(/```ts\n(.*?)```/gs)]).map(([, code = ""]) => code);
  const [example = "", ...others] = examples.filter((code) => code.includes(mark));
  expect(others).toEqual([]);
  const code = stripTypeScriptTypes(example)
    .replace(/^import (.+) from (".+");$/gm, "const $1 = await load($2);")
    .replaceAll("payments.jsonl", join(folder, "payments.jsonl"));
  const body = `(async (load, registry, console) => { ${code}\nreturn answer; })`;
  const run = runInThisContext(body, { filename: "README.md" }) as (...given: readonly unknown[]) => unknown;
  const known = modules(asked, scripts);
  const log = (...words: readonly unknown[]): void => void asked.push(words.join(" "));
  return run((name: string) => known[name]?.(), registry, { log });
}

test("the example that asks in place", async () => {
  const asked: string[] = [];
  expect(await runExample("terminal.question", registryThatPays(), asked)).toBe("Paid.");
  expect(asked).toEqual(["Pay 5 to Ann? y/n "]);
  expect(paid).toEqual(["5 to Ann"]);
});

test("the example that is answered in another process", async () => {
  const asked: string[] = [];
  const registry = registryThatPays().guard(() => ({ ask: "Pay?" }));
  expect(await runExample("resumed.approve", registry, asked)).toBe("Paid.");
  expect(asked).toEqual([expect.stringMatching(/ Pay\?$/)]);
  expect(paid).toEqual(["5 to Ann"]);
});

test("the example that bounds the result of a tool", async () => {
  const log = defineTool({
    name: "read_log",
    description: "Reads the log.",
    parameters: { type: "object", properties: {} },
    execute: () => "all is well\n".repeat(500).slice(0, 5000),
  });
  const printed: string[] = [];
  const script = [{ calls: [{ name: "read_log" }] }, "All is well."];
  const registry = new ToolRegistry([log]);
  expect(await runExample("maxToolResultBytes", registry, printed, [script])).toBe("All is well.");
  expect(printed).toEqual([expect.stringMatching(/^\[truncated: shown \d+ of 5000 bytes\]$/)]);
});

test("the example with recorded steps", async () => {
  const printed: string[] = [];
  const script = [{ calls: [{ id: "call_1", name: "pay", args: { to: "Ann", amount: 5 } }] }, "Paid."];
  expect(await runExample("StepRunner", registryThatPays(), printed, [script, []])).toBe("Paid.");
  expect(printed).toEqual(["reply:1 start:call_1 call:call_1 reply:2"]);
  expect(paid).toEqual(["5 to Ann"]);
});

test("the example with deferred tools", async () => {
  const offered: string[] = [];
  const note =
    (reply: ScriptedReply): ScriptedReply =>
    ({ tools }) => {
      offered.push(tools.map((tool) => tool.function.name).join());
      return reply;
    };
  const script = [{ calls: [{ name: "search_tools", args: { query: "close" } }] }, "Closed."].map(note);
  expect(await runExample("createToolSearch", registryThatPays(), [], [script])).toBe("Closed.");
  expect(offered).toEqual(["pay,search_tools", "pay,search_tools,close_issue"]);
});
