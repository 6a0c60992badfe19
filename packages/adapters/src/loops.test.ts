import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test, vi } from "vitest";
import { loops, type WrittenCall } from "../testing/loops.ts";
import { createScenario, pixel } from "../testing/scenario.ts";

type Run = (calls: readonly WrittenCall[], setting?: Setting) => ReturnType<(typeof loops)[string]>;
interface Setting {
  registries?: readonly ToolRegistry[];
  signal?: AbortSignal;
  asks?: boolean;
}

const parameters = { type: "object", properties: {} } as const;
const toolOf = (name: string, execute: () => unknown) =>
  defineTool({ name, description: "For a test.", parameters, execute: execute as () => string });

/** Tells by whom the only call was answered; `words` are the registry's. */
async function answered(told: ReturnType<Run>, words: string): Promise<string> {
  const end = await told.catch(() => "the run rejects");
  if (typeof end !== "object") return end ?? "cannot come";
  const [result] = end.results;
  if (result === undefined) return "the run ends without a word";
  return result.includes(words) ? "told" : "told by the SDK";
}

const invalid = "Invalid arguments: expected an object of arguments";

/** The rows of the page, each with what happens under a loop. */
const situations: Readonly<Record<string, (run: Run) => Promise<string>>> = {
  "a tool throws": (run) => answered(run([{ name: "fail", args: "{}" }]), "Error executing fail: the disk is full"),
  "a tool returns nothing": (run) =>
    answered(
      run([{ name: "idle", args: "{}" }], { registries: [new ToolRegistry([toolOf("idle", () => undefined)])] }),
      "(no output)",
    ),
  "an unknown name": (run) => answered(run([{ name: "ad", args: "{}" }]), "Tool not found: ad. Did you mean add?"),
  "cut JSON": (run) => answered(run([{ name: "add", args: '{"a":' }]), invalid),
  "JSON that is no object": (run) => answered(run([{ name: "add", args: "[1]" }]), invalid),
  "empty arguments": (run) => answered(run([{ name: "fail", args: "" }]), "the disk is full"),
  "two tools of one name": async (run) => {
    const registries = ["first", "last"].map(
      (text) => new ToolRegistry([toolOf(`other_${text}`, String), toolOf("say", () => text)]),
    );
    expect(() => new ToolRegistry([toolOf("say", String), toolOf("say", String)])).toThrow("Tool already exists");
    const told = await run([{ name: "say", args: "{}" }], { registries }).catch(() => undefined);
    return told ? `the ${/first|last/.exec(told.results.join())?.[0]} runs` : "refused";
  },
  "abort during a call": async (run) => {
    const { registry, held, released } = createScenario();
    const abort = new AbortController();
    const running = run([{ name: "hold", args: "{}" }], { registries: [registry], signal: abort.signal });
    await held;
    abort.abort(new Error("enough"));
    const end = await running.then(
      () => "the tool ends",
      () => "both end",
    );
    await released;
    return end;
  },
  "a picture in a result": async (run) => {
    const told = await run([{ name: "picture", args: "{}" }]);
    if (told?.results.join().includes(pixel)) return "in the result";
    return told?.behind.includes(pixel) ? "behind the results" : "lost";
  },
  "two calls in a reply": async (run) => {
    let active = 0;
    let most = 0;
    const meet = toolOf("meet", async () => {
      active += 1;
      most = Math.max(most, active);
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
      active -= 1;
      return "met";
    });
    const call = { name: "meet", args: "{}" };
    const told = await run([call, call], { registries: [new ToolRegistry([meet])] });
    expect(told?.results.filter((result) => result.includes("met"))).toHaveLength(2);
    return most === 2 ? "together" : "one by one";
  },
  "two questions in a reply": async (run) => {
    const registries = [createScenario().registry.guard(() => ({ ask: "Add?" }))];
    const call = { name: "add", args: '{"a":1,"b":1}' };
    const { asked = [] } = (await run([call, call], { registries, asks: true })) ?? {};
    return `${asked.length} × ${asked[0]}`;
  },
};

const page = readFileSync(new URL("../../../docs/src/content/docs/loops/index.md", import.meta.url), "utf8");
const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
const lines = page.slice(page.indexOf("| situation |")).split("\n\n")[0]?.split("\n") ?? [];
const [, ...headings] = cellsOf(lines[0] ?? "");
const rows = lines.slice(2).map(cellsOf);

test("the page has every situation and every loop", () => {
  expect([headings, rows.map(([name]) => name)]).toEqual([Object.keys(loops), Object.keys(situations)]);
});

describe.each(Object.entries(situations))("%s", (name, happens) => {
  test.each(Object.entries(loops))("%s", async (loop, start) => {
    vi.spyOn(console, "warn").mockReturnValue();
    const run: Run = (calls, { registries = [createScenario().registry], ...options } = {}) =>
      start(registries, [() => calls], options);
    const cell = rows.find(([row]) => row === name)?.[headings.indexOf(loop) + 1];
    expect(cell).toBe(await happens(run));
  });
});
