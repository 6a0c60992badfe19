import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import type { AgentEvent, Answers, EndReason } from "@toolcrib/agent";
import { showLine, untilAborted } from "@toolcrib/core/internal";
import { configOptions } from "./choices.ts";
import { availableCommands, typedCommand } from "./commands.ts";
import { turnRuns } from "./errors.ts";
import { textOfPrompt, toUserContent } from "./promptContent.ts";
import { askAll, modelQuestion, needsFreeText } from "./questions.ts";
import { replay } from "./replay.ts";
import { labelsOf, onCallStart } from "./startedCalls.ts";
import { TurnReporter } from "./turnReporter.ts";
import type { AcpSession } from "./types.ts";

type EndEvent = Extract<AgentEvent, { type: "end" }>;

/** One open session: at most one turn runs in it. */
export class LiveSession {
  readonly session: AcpSession;
  readonly #client: AgentContext;
  /** Fires when the client has gone. */
  readonly #gone: AbortSignal;
  readonly #reporter: TurnReporter;
  #turn: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined;
  /** The user has left a question: a message comes instead of its answer. */
  #isDismissed = false;
  #hasTitle = false;
  /** The call whose question the next message answers: it has been told. */
  #told: string | undefined;
  readonly #stopWatching: () => void;

  constructor(session: AcpSession, client: AgentContext, capabilities: ClientCapabilities, gone: AbortSignal) {
    this.session = session;
    this.#client = client;
    this.#gone = gone;
    this.#reporter = new TurnReporter(session, (update) => this.send(update), capabilities);
    for (const { callId, within } of session.agent.pending)
      for (const id of [within ?? callId, callId]) this.#reporter.knows(id, false);
    this.#stopWatching = onCallStart(session.agent.toolRegistry, session.id, (id) => this.#reporter.started(id));
  }

  /** True while a turn runs. */
  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  /** Resolves when the client takes more, or has gone. Never rejects. */
  async send(update: SessionUpdate): Promise<void> {
    if (this.#gone.aborted) return;
    const sent = this.#client.notify("session/update", { sessionId: this.session.id, update });
    await untilAborted(sent, this.#gone).catch(() => undefined);
  }

  /** Tells the whole conversation so far. */
  async replay(): Promise<void> {
    this.#hasTitle = true;
    for await (const update of replay(this.session)) {
      if (update.sessionUpdate === "tool_call") this.#reporter.knows(update.toolCallId, update.status === "pending");
      await this.send(update);
    }
    await this.tellQuestion();
  }

  /** Tells the first question whose answer is in free words: the next message is its answer. */
  async tellQuestion(): Promise<void> {
    const [call, other] = this.session.agent.pending.filter((one) => one.answer === undefined);
    if (!call || !needsFreeText(call) || (other && !needsFreeText(other))) return;
    await this.#reporter.say(modelQuestion(call));
    this.#told = call.callId;
  }

  /** Tells what a client needs to know of a session that it has opened. */
  async announce(): Promise<void> {
    const commands = availableCommands(this.session);
    await this.send({ sessionUpdate: "available_commands_update", availableCommands: commands });
    for (const problem of this.session.problems ?? []) await this.#reporter.problem(problem);
  }

  /** Tells the client of a choice that it made in one of its two ways. */
  async announceChoices(): Promise<void> {
    const { modes } = this.session;
    if (modes) await this.send({ sessionUpdate: "current_mode_update", currentModeId: modes.current });
    await this.send({ sessionUpdate: "config_option_update", configOptions: configOptions(this.session) });
  }

  /** Runs one turn; resolves when it is over. Throws where one runs, and what the turn throws. */
  async prompt(content: readonly ContentBlock[], request: AbortSignal): Promise<PromptResponse> {
    if (this.#turn) throw turnRuns("wait for its end, or cancel it");
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, request, this.#gone]);
    this.#turn = { controller, ended };
    try {
      return { stopReason: await this.#answer(content, signal) };
    } catch (error) {
      if (signal.aborted) return { stopReason: "cancelled" };
      throw error;
    } finally {
      await this.#reporter.failOpenCalls();
      this.#turn = undefined;
      end();
    }
  }

  /** Ends the turn that runs; resolves once it is over. */
  async cancel(): Promise<void> {
    this.#turn?.controller.abort(new Error("cancelled"));
    await this.#turn?.ended;
  }

  async close(): Promise<void> {
    await this.cancel();
    this.#stopWatching();
    await this.session.close();
  }

  async #answer(content: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { agent } = this.session;
    const typed = typedCommand(textOfPrompt(content), this.session);
    if (typed) {
      await this.#reporter.say(await typed.command.run(typed.input, signal));
      return "end_turn";
    }
    const message = toUserContent(content);
    const text = textOfPrompt(content);
    await this.#sendTitle(text);
    const options = { signal, labels: labelsOf(this.session.id), onQuestions: () => this.#ask(signal) };
    const told = agent.pending.find(({ callId }) => callId === this.#told);
    this.#told = undefined;
    const output = message.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("\n");
    if (told && output.trim() !== "")
      return this.#report(agent.streamApprove({ [told.callId]: { output } }, options), signal);
    // A question of an earlier process: it is asked again before the message goes out.
    if (agent.pending.length > 0 && !this.#isDismissed) {
      const stopReason = await this.#report(agent.streamApprove({}, options), signal);
      if (this.#told !== undefined) await this.#reporter.say("(Your message was not sent: answer this first.)");
      if (stopReason !== "end_turn" || this.#told !== undefined) return stopReason;
    }
    this.#isDismissed = false;
    return this.#report(agent.streamChat(message, options), signal);
  }

  async #report(events: AsyncIterable<AgentEvent>, signal: AbortSignal): Promise<StopReason> {
    let end: EndEvent | undefined;
    for await (const event of events) {
      await this.#reporter.report(event, signal);
      if (event.type === "end") end = event;
    }
    if (end?.detail !== undefined && end.reason !== "stop") await this.#reporter.notice("warning", end.detail);
    return end && this.#told === undefined ? stopReasons[end.reason] : "end_turn";
  }

  async #ask(signal: AbortSignal): Promise<Answers | undefined> {
    this.#isDismissed = true;
    const answers = await askAll({ session: this.session, client: this.#client, reporter: this.#reporter, signal });
    if (answers) this.#isDismissed = false;
    if (answers && Object.keys(answers).length === 0) await this.tellQuestion();
    return answers;
  }

  async #sendTitle(text: string): Promise<void> {
    if (this.#hasTitle) return;
    this.#hasTitle = true;
    const title = showLine(text.trim().split("\n", 1)[0] ?? "", 100);
    if (title !== "") await this.send({ sessionUpdate: "session_info_update", title });
  }
}

const stopReasons: Readonly<Record<EndReason, StopReason>> = {
  stop: "end_turn",
  "step-limit": "max_turn_requests",
  "token-limit": "max_tokens",
  "context-limit": "max_tokens",
  // The user has left the question.
  approval: "cancelled",
  stuck: "end_turn",
  refusal: "refusal",
  "content-filter": "refusal",
};
