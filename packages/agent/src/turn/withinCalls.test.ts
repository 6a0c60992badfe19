import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { type CallLog, ToolRegistry } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { agentOf, anyTool } from "../../testing/turns.ts";

const reply = { calls: [{ id: "c", name: "outer" }] };

/** An agent with a composite tool, whose record `onLog` gets as the tool starts. */
function composite(onLog: (log: CallLog) => Promise<string>, options = {}) {
  const tool = anyTool("outer", (_, { caller }) => (caller?.log ? onLog(caller.log) : "no record"));
  return agentOf([reply, "fine"], { tools: new ToolRegistry([{ ...tool, composite: true }]), ...options });
}

/** The files that this process has open, where the system tells. */
const openFiles = (): readonly (string | undefined)[] =>
  process.platform === "linux"
    ? readdirSync("/proc/self/fd").map((fd) => attempt(() => readlinkSync(`/proc/self/fd/${fd}`)))
    : [];

test("a composite tool that goes on after the turn writes nothing to its journal, which stays closed", async () => {
  const journal = join(temporaryFolder("within"), "one.jsonl");
  const stop = new AbortController();
  let kept: CallLog | undefined;
  const { agent } = composite(
    async (log) => {
      kept = log;
      await log.write([{ type: "begin" }]);
      stop.abort();
      // It ignores its signal.
      return await new Promise(() => {});
    },
    { journal },
  );
  await expect(agent.chat("go", { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
  const written = readFileSync(journal, "utf8");
  expect(written).toContain('"lines":[{"type":"begin"}]');
  await expect((async () => kept?.write([{ type: "late" }], true))()).rejects.toThrow(
    "The call c of outer has ended: nothing is added to its record any more.",
  );
  expect(readFileSync(journal, "utf8")).toBe(written);
  expect(openFiles()).not.toContain(journal);
});

test("a call that has ended begins no further step within it", async () => {
  const names: string[] = [];
  const steps = {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      names.push(name);
      return await work();
    },
  };
  let kept: CallLog | undefined;
  const { agent } = composite(
    async (log) => {
      kept = log;
      await log.step?.(async () => ({ type: "begin" }));
      return "ended";
    },
    { steps },
  );
  expect(await agent.chat("go")).toBe("fine");
  const late = kept?.step?.(async () => ({ type: "late" }), { number: 1, once: true });
  await expect(late).rejects.toThrow("has ended");
  expect(names).toEqual(["reply:1", "program:c", "end:c", "reply:2"]);
});
