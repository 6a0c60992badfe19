import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, type AgentEvent } from "@toolcrib/agent";
import { PageError } from "./errors.ts";
import { type LiveSession, type SessionTurn, type StartAction, toAnswers, turnRuns } from "./liveSession.ts";
import { isAlways, type SessionState } from "./protocol.ts";
import type { DurableSession } from "./sessions.ts";

const askEveryMs = 1000;

type Run = NonNullable<Awaited<ReturnType<DurableSession["runs"]["get"]>>>;

/** A durable run, which other processes work on. All that is known of it is its status, its questions and its answer. */
export class DurableLiveSession implements LiveSession {
  readonly #session: DurableSession;

  constructor(session: DurableSession) {
    this.#session = session;
  }

  async state(): Promise<SessionState> {
    return stateOf(await this.#run());
  }

  async turn(): Promise<SessionTurn | undefined> {
    const run = await this.#run();
    return isRunning(run) ? this.#turn(stateOf(run), false) : undefined;
  }

  async start(action: StartAction): Promise<SessionTurn> {
    const { runs, run: id } = this.#session;
    const run = await this.#run();
    if (isRunning(run)) throw turnRuns;
    const { messages } = stateOf(run);
    if (action.type === "send") {
      const text = textOf(action.content);
      await runs.send(id, text);
      const message = { role: "user", content: [{ type: "text", text }] } as const;
      return this.#turn({ messages: [...messages, message], pending: [] }, false);
    }
    if ([...action.answers.values()].some(isAlways))
      throw new PageError(400, "A durable run cannot remember an answer; send true instead.");
    await runs.approve(id, toAnswers(action.answers));
    return this.#turn({ messages, pending: [] }, true);
  }

  async stop(): Promise<void> {
    await this.#session.runs.cancel(this.#session.run);
  }

  use(): void {}

  #turn(before: SessionState, continues: boolean): SessionTurn {
    const ask = (): Promise<Run> => this.#run();
    async function* events(): AsyncGenerator<AgentEvent, void> {
      yield { type: "step-start", step: 1 };
      let last = await ask();
      for (; isRunning(last); last = await ask()) await sleep(askEveryMs, undefined, { ref: false });
      const { status, answer: text = "", pending, error } = last;
      if (status === "failed") throw error;
      if (status === "cancelled") throw new AgentError({ code: "aborted", message: "The run was cancelled." });
      if (text !== "") yield { type: "text-delta", text };
      yield { type: "end", reason: pending ? "approval" : "stop", text, ...(pending && { pending }) };
    }
    return { before, continues, isOver: false, events, after: () => undefined };
  }

  async #run(): Promise<Run> {
    const run = await this.#session.runs.get(this.#session.run);
    if (!run) throw new PageError(404, "There is no such run.");
    return run;
  }
}

function isRunning({ status }: Run): boolean {
  return status === "queued" || status === "running";
}

function stateOf({ status, answer = "", pending = [] }: Run): SessionState {
  const isDone = status === "done" && answer !== "";
  const messages = isDone ? [{ role: "assistant", content: [{ type: "text", text: answer }] } as const] : [];
  return { messages, pending };
}

function textOf(content: Extract<StartAction, { type: "send" }>["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      throw new PageError(400, "A durable run takes text alone.");
    })
    .join("\n\n");
}
