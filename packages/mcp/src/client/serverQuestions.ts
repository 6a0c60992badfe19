import type { Approve, GuardedCall } from "@toolcrib/core";
import { untilAborted } from "@toolcrib/core/internal";
import { clip, showInvisible } from "@toolcrib/core/text";
import { reasonOf, shownName } from "../errors.ts";
import { record } from "../mapping.ts";
import { type FormField, formField } from "./formField.ts";

/** Milliseconds added to the time limit of a call whose server may ask: our own server waits as long for an answer. */
export const answerTimeoutMs = 600_000;

/** A longer question is declined: a person cannot say yes to a part that is not shown. */
const maxQuestionLength = 4000;

interface RunningCall {
  readonly call: GuardedCall;
  readonly signal: AbortSignal;
  /** The reasons why questions of this call were not approved. */
  readonly refusals: string[];
}

interface ElicitAnswer {
  [key: string]: unknown;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string | string[]>;
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

  /**
   * Answers `elicitation/create`. Only a form without fields can get a yes, since accepting it is the whole answer; one with a single field
   * of text or of choices is a question that needs an output.
   */
  answer(params: unknown, requestSignal: AbortSignal): Promise<ElicitAnswer> {
    const running = this.#running;
    if (!running) return Promise.reject(new Error("the question belongs to no running call"));
    const { message, mode = "form", requestedSchema } = record(params);
    const decline = (reason: string): ElicitAnswer => {
      running.refusals.push(reason);
      return { action: "decline" };
    };
    const hasFields = Object.keys(record(record(requestedSchema).properties)).length > 0;
    const field = formField(requestedSchema);
    if (mode !== "form" || (hasFields && !field))
      return Promise.resolve(decline("the server asked for more than a yes, a no, one text or one choice"));
    const label = field?.label ? ` (${field.label})` : "";
    if (typeof message !== "string" || message.length + label.length > maxQuestionLength)
      return Promise.resolve(decline(`the server's question is not a text of at most ${maxQuestionLength} characters`));
    const signal = AbortSignal.any([running.signal, requestSignal]);
    const text = `The MCP server ${shownName(this.#server)} asks: ${showInvisible(message + label)}`;
    const answer = this.#lastQuestion.then(async (): Promise<ElicitAnswer> => {
      try {
        signal.throwIfAborted();
        const question = {
          text,
          ...(field && { needs: "output" as const, data: { choices: [...field.choices.keys()] } }),
        };
        const approving = Promise.resolve(this.#approve({ ...running.call, signal }, question));
        const given: unknown = await untilAborted(approving, signal);
        const content = contentOf(given, field);
        if (content) return { action: "accept", content };
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

/** Gives the answer as the form has it; undefined if it does not fit the form. */
function contentOf(given: unknown, field: FormField | undefined): ElicitAnswer["content"] | undefined {
  if (!field) return given === true ? {} : undefined;
  const { output } = record(given);
  if (typeof output !== "string") return undefined;
  const value = field.choices.size === 0 ? output : field.choices.get(output);
  return value === undefined ? undefined : { [field.name]: field.isArray ? [value] : value };
}
