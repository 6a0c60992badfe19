import type { Approve, GuardedCall } from "@toolcrib/core";
import { untilAborted } from "@toolcrib/core/internal";
import { clip, showInvisible } from "@toolcrib/core/text";
import { reasonOf, shownName } from "../errors.ts";
import { record } from "../mapping.ts";

/** Milliseconds added to the time limit of a call whose server may ask: our own server waits as long for an answer. */
export const answerTimeoutMs = 600_000;

/** A longer question is declined: a person cannot say yes to a part that is not shown. */
const maxQuestionLength = 4000;

interface RunningCall {
  readonly call: GuardedCall;
  readonly signal: AbortSignal;
  /** Why questions of this call got no yes. */
  readonly refusals: string[];
}

interface ElicitAnswer {
  [key: string]: unknown;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, never>;
}

/**
 * Answers the questions that one server asks by elicitation. A request does not say which call it is about, so the calls
 * of such a server run one at a time, and a question is always about the one that runs.
 */
export class ServerQuestions {
  readonly #server: string;
  readonly #approve: Approve;
  #running: RunningCall | undefined;
  #lastCall: Promise<unknown> = Promise.resolve();
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(server: string, approve: Approve) {
    this.#server = server;
    this.#approve = approve;
  }

  /** Runs `send` after the calls before it have ended, and returns its result with the reasons of questions denied. */
  during<Result>(call: GuardedCall, send: () => Promise<Result>): Promise<{ result: Result; refusals: string[] }> {
    const running = this.#lastCall.then(async () => {
      call.signal?.throwIfAborted();
      const ended = new AbortController();
      const signal = call.signal ? AbortSignal.any([call.signal, ended.signal]) : ended.signal;
      const refusals: string[] = [];
      this.#running = { call, signal, refusals };
      try {
        return { result: await send(), refusals };
      } finally {
        this.#running = undefined;
        ended.abort();
      }
    });
    this.#lastCall = running.catch(() => undefined);
    return running;
  }

  /** Answers `elicitation/create`. Only a form without fields can get a yes, since accepting it is the whole answer. */
  answer(params: unknown, requestSignal: AbortSignal): Promise<ElicitAnswer> {
    const running = this.#running;
    if (!running) return Promise.reject(new Error("no call is running that a question could be about"));
    const { message, mode = "form", requestedSchema } = record(params);
    const decline = (reason: string): ElicitAnswer => {
      running.refusals.push(reason);
      return { action: "decline" };
    };
    const isForm = mode === "form" && Object.keys(record(record(requestedSchema).properties)).length === 0;
    if (!isForm) return Promise.resolve(decline("the server asked for more than a yes or a no"));
    if (typeof message !== "string" || message.length > maxQuestionLength)
      return Promise.resolve(decline(`the server's question is no text of at most ${maxQuestionLength} characters`));
    const signal = AbortSignal.any([running.signal, requestSignal]);
    const text = `The MCP server ${shownName(this.#server)} asks: ${showInvisible(message)}`;
    const answer = this.#lastQuestion.then(async (): Promise<ElicitAnswer> => {
      try {
        signal.throwIfAborted();
        const approving = Promise.resolve(this.#approve({ ...running.call, signal }, { text }));
        const given: unknown = await untilAborted(approving, signal);
        if (given === true) return { action: "accept", content: {} };
        return typeof given === "string" && given !== "" ? decline(given) : { action: "decline" };
      } catch (error) {
        if (!signal.aborted) running.refusals.push(`the question could not be answered: ${clip(reasonOf(error))}`);
        return { action: "cancel" };
      }
    });
    this.#lastQuestion = answer;
    return answer;
  }
}
