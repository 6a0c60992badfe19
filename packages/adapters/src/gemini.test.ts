import { expect, test } from "vitest";
import { createScenario } from "../testing/scenario.ts";
import { runGeminiFunctionCalls } from "./gemini.ts";

test("ends a running tool when the caller aborts, and runs none after it", async () => {
  const { registry, held, released } = createScenario();
  const abort = new AbortController();
  const calls = [{ name: "hold" }, { name: "add", args: { a: 1, b: 1 } }];
  const running = runGeminiFunctionCalls(registry, calls, { signal: abort.signal });
  await held;
  abort.abort(new Error("enough"));
  await released;
  expect((await running).map((part) => part.functionResponse?.response)).toEqual([
    { error: "Error executing hold: Aborted" },
    { error: "Error executing add: Aborted" },
  ]);
});
