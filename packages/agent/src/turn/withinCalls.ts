import type { CallLog, ExecutableTool, RunStep } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { History } from "../conversation/history.ts";
import { addUsage } from "../conversation/usage.ts";
import type { WaitingCall } from "../conversation/waiting.ts";
import type { AgentEvent, ToolCallBlock, Usage } from "../messages.ts";
import { abortedError, type RequestClock } from "../requestClock.ts";
import type { EventQueue } from "./eventQueue.ts";
import type { Steps } from "./steps.ts";
import type { StopCondition } from "./stopConditions.ts";

/** The parts of the setting of calls that those within one need. */
export interface WithinRun {
  readonly tools: { get(name: string): ExecutableTool | undefined };
  readonly steps: Steps;
  readonly history: History;
  readonly clock: RequestClock;
  /** The facts about calls that have waited, by id. */
  waited: ReadonlyMap<string, WaitingCall>;
  /** Is told at once what an agent within a call has used; true ends that agent. */
  readonly seeInner: StopCondition["seeInner"] | undefined;
}

/** Returns whether it is a tool whose calls are recorded, not itself. */
export function isComposite(tools: WithinRun["tools"], name: string): boolean {
  return attempt(() => tools.get(name)?.composite) === true;
}

interface OpenRecord extends CallLog {
  /** Refuses further lines and steps: a tool that was stopped may go on, after the turn even, when its journal has been closed. */
  close(): void;
}

/** Returns the record of a call that has others within it; undefined for any other tool. `events` tells what is written, as it is. */
export function recordOf(
  { id, name }: ToolCallBlock,
  run: WithinRun,
  events: EventQueue,
  use: (usage: Usage) => void,
): OpenRecord | undefined {
  if (!isComposite(run.tools, name)) return undefined;
  const { log = [], within = [] } = run.waited.get(id) ?? {};
  const answers = within.flatMap(({ callId, answer }) => (answer === undefined ? [] : [[callId, answer] as const]));
  const names = new Map(within.map((call) => [call.callId, call.name]));
  for (const { callId, name: inner, args } of within)
    events.push({ type: "tool-call", id: callId, name: inner, args, within: id });
  let isOpen = true;
  const step = run.steps.areRecorded ? stepOf(id, run, events, use) : undefined;
  const refuseLate = (): void => {
    if (!isOpen) throw new Error(`The call ${id} of ${name} has ended: nothing is added to its record any more.`);
  };
  return {
    lines: [...log],
    answers: Object.fromEntries(answers),
    close() {
      isOpen = false;
    },
    async write(lines, sync = false) {
      refuseLate();
      const copies = frozenJson(lines);
      await run.history.keep(id, copies, sync);
      for (const line of copies) {
        const event = eventOf(line, id, names);
        if (event) events.push(event);
      }
    },
    ...(step && {
      async step(work, call) {
        refuseLate();
        return await step(work, call);
      },
    }),
  };
}

/** Returns what runs a call within `outer` as a step, which is recorded with what agents within it have used. */
function stepOf(
  outer: string,
  { steps, clock, seeInner }: WithinRun,
  events: EventQueue,
  use: (usage: Usage) => void,
): RunStep {
  return async (work, call) => {
    const record = async (mayHaveRun: boolean) => {
      let usage: Usage | undefined;
      const onUsage = (more: object): unknown => {
        usage = usage ? addUsage(usage, more as Usage) : (more as Usage);
        return seeInner?.(more as Usage, outer);
      };
      const value = await work({ mayHaveRun, onUsage }).catch((error: unknown) => {
        throw clock.signal.aborted ? abortedError(clock.signal) : error;
      });
      return frozenJson(usage ? { value, usage } : { value });
    };
    try {
      const step: { readonly value: Awaited<ReturnType<typeof work>>; readonly usage?: Usage } = await (call
        ? steps.runCall("call", `${outer}:${call.number}`, call.once, record)
        : steps.run(`program:${outer}`, () => record(false)));
      if (step.usage) use(step.usage);
      return step.value;
    } catch (error) {
      // An abort ends the turn by itself.
      if (!clock.signal.aborted) events.fail(error);
      throw error;
    }
  };
}

/** Returns what a line says of a call within; undefined for a line that says nothing new of one. */
function eventOf(line: unknown, outer: string, names: Map<string, string>): AgentEvent | undefined {
  if (!isObject(line) || !(Number(line.number) > 0)) return undefined;
  const id = `${outer}:${Number(line.number)}`;
  if (line.type === "call") {
    // One that was asked about begins again, and was told.
    if (names.has(id)) return undefined;
    const name = String(line.name);
    names.set(id, name);
    const args: unknown = attempt(() => JSON.parse(String(line.args)));
    return { type: "tool-call", id, name, args: isObject(args) ? args : {}, within: outer };
  }
  if (line.type !== "end") return undefined;
  const value: unknown = attempt(() => JSON.parse(String(line.text)));
  const isError = line.ok !== true;
  const told = isError && isObject(value) ? value.message : value;
  const output = typeof told === "string" ? told : String(line.text);
  return { type: "tool-result", id, name: names.get(id) ?? "", output, isError, within: outer };
}
