import { expect, test } from "vitest";
import type { Engine } from "./loadEngine.ts";
import { RecordedSteps } from "./recordedSteps.ts";

class DBOSWorkflowConflictError extends Error {}

/** Steps of a worker that `close` keeps from beginning further ones. */
function stepsOf(control = new AbortController()) {
  let isClosing = false;
  const context = {
    engine: {
      sdk: { DBOS: { runStep: (work: () => unknown) => work() }, DBOSWorkflowConflictError },
    } as unknown as Engine,
    ...{ runs: { unread: async () => [], recordedPrompt: async () => null }, agents: {} },
    limits: { run: <T>(_: string, send: () => Promise<T>) => send() },
    ...{ signal: control.signal, mayBegin: () => !isClosing && !control.signal.aborted, ready: async () => {} },
  };
  const close = (): void => {
    isClosing = true;
  };
  return { steps: new RecordedSteps({ id: "r", workflow: "w", read_seq: 0 }, context), close };
}

test("a call whose start was claimed runs here, as nobody else may, and nothing after it begins", async () => {
  const { steps, close } = stepsOf();
  await steps.run("start:c1", async () => "token");
  close();
  expect(await steps.run("call:c1", async () => "ran")).toBe("ran");
  await expect(steps.run("start:c2", async () => "token")).rejects.toThrow(DBOSWorkflowConflictError);
});

test("an abort keeps also a claimed call from running", async () => {
  const control = new AbortController();
  const { steps } = stepsOf(control);
  await steps.run("start:c1", async () => "token");
  control.abort();
  await expect(steps.run("call:c1", async () => "ran")).rejects.toThrow(DBOSWorkflowConflictError);
});
