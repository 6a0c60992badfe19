import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type AgentOptions, isAgentError, type Session, type SessionToolContext } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { randomOf } from "@toolcrib/testing/randomOf";
import { createProgramTools } from "@toolcrib/tools-program";
import { expect } from "vitest";

type StepRunner = NonNullable<AgentOptions["steps"]>;
type Input = { readonly message: string } | { readonly answers: Readonly<Record<string, true>> };

/** One turn of a run, as an engine keeps it: its steps are known by the order in which they start. */
interface Turn {
  readonly input: Input;
  readonly session: Session | undefined;
  readonly records: { readonly name: string; text?: string }[];
}

const killed = new Error("the worker was killed");

/** A worker that dies at its `cut`th place, at which it could. */
class Worker {
  readonly #random: () => number;
  #left: number;

  constructor(cut: number, random: () => number) {
    this.#left = cut;
    this.#random = random;
  }

  get isDead(): boolean {
    return this.#left <= 0;
  }

  place(): void {
    this.#left -= 1;
    if (this.isDead) throw killed;
  }

  /** Lets others go first, mostly. */
  async wait(): Promise<void> {
    if (this.#random() < 0.7) await sleep(this.#random() * 3);
  }

  stepsOf({ records }: Turn): StepRunner {
    let started = 0;
    return {
      run: async <T>(name: string, fn: () => Promise<T>): Promise<T> => {
        this.place();
        const at = started;
        started += 1;
        records[at] ??= { name };
        const record = records[at];
        if (record.name !== name) throw new Error(`step ${at} was ${record.name}, and is ${name} now`);
        await this.wait();
        if (record.text === undefined) {
          this.place();
          const text = JSON.stringify(await fn());
          this.place();
          record.text = text;
        }
        await this.wait();
        this.place();
        return JSON.parse(record.text) as T;
      },
    };
  }
}

const traits = { look: { readOnly: true }, put: { idempotent: true }, charge: {} };

function toolsOf(worker: Worker, ran: Map<string, number>, random: () => number): ToolRegistry {
  const tools = new ToolRegistry();
  for (const [name, trait] of Object.entries(traits)) {
    const execute = async (_: object, { callId }: { readonly callId?: string | undefined }): Promise<string> => {
      worker.place();
      const key = `${name} ${callId}`;
      ran.set(key, (ran.get(key) ?? 0) + 1);
      await sleep(random() * 3);
      worker.place();
      if (random() < 0.1) throw new Error(`no ${callId}`);
      return `did ${callId}`;
    };
    tools.register(defineTool({ name, description: name, parameters: { type: "object" }, ...trait, execute }));
  }
  tools.register(...createProgramTools(tools, { tools: Object.keys(traits) }));
  return tools.guard(({ args, callId }) => (args.ask === true ? { ask: `May ${callId} run?` } : true));
}

/** Takes its way by chance, of which the record has the seed, and by which result comes first. */
const code = `let id = 0; const told = []; const names = ["look", "look", "put", "charge"];
const one = async (before) => {
  const own = id += 1;
  const name = names[(Math.floor(Math.random() * 4) + before) % 4];
  const args = { own, at: Date.now(), chance: Math.random(), ask: Math.random() < 0.15 };
  const said = await tools[name](args).catch((error) => error.message);
  told.push(own + " " + name + ": " + said);
  if ((Math.random() + own / 3) % 1 < 0.5) await one(own);
};
for (let round = 0; round < 4; round += 1) {
  if (Math.random() < 0.3) told.push("0 " + (await searchTools("look")).length);
  await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => one(0)));
}
return told`;

/** Runs a turn by its records. Resolves to what comes next, or to what the program told. */
async function runTurn(
  turn: Turn,
  worker: Worker,
  tools: ToolRegistry,
  signal: AbortSignal,
): Promise<Turn | readonly string[]> {
  let context: SessionToolContext | undefined;
  const options: AgentOptions = {
    steps: worker.stepsOf(turn),
    attempts: 1,
    tools: (given) => {
      context = given;
      return tools;
    },
  };
  const isFirst = turn.session === undefined;
  const program = { calls: [{ id: "c", name: "run_program", args: { code } }] };
  const provider = new ScriptedProvider(isFirst ? [program, "done"] : ["done"]);
  const agent = turn.session ? await Agent.resume(provider, turn.session, options) : new Agent(provider, options);
  try {
    await ("message" in turn.input
      ? agent.chat(turn.input.message, { signal })
      : agent.approve(turn.input.answers, { signal }));
  } catch (error) {
    if (worker.isDead) throw killed;
    if (!isAgentError(error) || error.reason !== "approval") throw error;
    const { systemPrompt, sessionContext: messages } = agent;
    const about = { format: "toolcrib-session", version: 1, savedAt: new Date().toISOString() } as const;
    const session = JSON.parse(JSON.stringify({ ...about, systemPrompt, messages, ...context?.kept })) as Session;
    const answers = Object.fromEntries(agent.pending.map(({ callId }) => [callId, true] as const));
    return { input: { answers }, session, records: [] };
  }
  if (worker.isDead) throw killed;
  const result = agent.sessionContext.find((one) => one.role === "tool");
  const output = String(result?.output);
  if (!output.startsWith("[")) throw new Error(`The program failed: ${output}`);
  return JSON.parse(output) as readonly string[];
}

/** Counts what came of a program. */
export interface Figures {
  readonly kills: number;
  readonly calls: number;
  readonly doubtful: number;
  readonly turns: number;
}

/**
 * Runs a program on workers of which the first `kills` die, each at a random place. It ends, no call runs twice that must not, each result is that of a
 * call that has run, one kill leaves at most one call in doubt, and a repetition by the records says the same and runs nothing.
 */
export async function checkProgram(seed: number, kills: number): Promise<Figures> {
  const random = randomOf(seed);
  const ran = new Map<string, number>();
  const turns: Turn[] = [{ input: { message: "go" }, session: undefined, records: [] }];
  let left = kills;
  let told: readonly string[] | undefined;
  for (let life = 0; told === undefined && life < 200; life += 1) {
    const worker = new Worker(left > 0 ? 1 + Math.floor(random() * 60) : Number.POSITIVE_INFINITY, random);
    const control = new AbortController();
    try {
      const next = await runTurn(turns.at(-1) as Turn, worker, toolsOf(worker, ran, random), control.signal);
      if ("records" in next) turns.push(next);
      else told = next;
    } catch (error) {
      if (error !== killed) throw new Error(`seed ${seed}`, { cause: error });
      left -= 1;
    } finally {
      control.abort();
    }
  }
  const context = `seed ${seed}`;
  const calls = (told ?? []).filter((one) => !one.startsWith("0 "));
  const doubtful = calls.filter((one) => one.includes("may have run"));
  expect(doubtful.length, context).toBeLessThanOrEqual(kills - left);
  for (const [key, times] of ran) if (key.startsWith("charge")) expect(times, `${key}, ${context}`).toBe(1);
  for (const one of calls) {
    const [, number, name] = /^(\d+) (\w+): /.exec(one) ?? [];
    if (!doubtful.includes(one)) expect(ran.get(`${name} c:${number}`), `${one}, ${context}`).toBeGreaterThan(0);
  }
  const effects = JSON.stringify([...ran]);
  const worker = new Worker(Number.POSITIVE_INFINITY, random);
  const again = await runTurn(turns.at(-1) as Turn, worker, toolsOf(worker, ran, random), new AbortController().signal);
  expect(again, context).toEqual(told);
  expect(JSON.stringify([...ran]), context).toBe(effects);
  return { kills: kills - left, calls: calls.length, doubtful: doubtful.length, turns: turns.length };
}
