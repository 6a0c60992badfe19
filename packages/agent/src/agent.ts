import {
  type AnyToolRegistry,
  type ChatTool,
  type ExecutableTool,
  type ToolContext,
  ToolRegistry,
} from "@toolcrib/core";
import { History } from "./conversation/history.ts";
import type { Answers, ConversationLine } from "./conversation/state.ts";
import { AgentError } from "./errors.ts";
import type { AgentEvent, Message, PendingCall, Usage } from "./messages.ts";
import type { ApproveOptions, ChatOptions, UserContent } from "./options.ts";
import {
  type AgentOptions,
  checkedTools,
  checkPlainOptions,
  checkProvider,
  defaultSessionFile,
  optionsOf,
} from "./options.ts";
import type { Provider } from "./provider.ts";
import { Journal, type JournalStart } from "./session/journal.ts";
import { openSession } from "./session/openSession.ts";
import type { Session } from "./session/session.ts";
import { createSaveSessionContextTool } from "./session/sessionContext.ts";
import type { Compacted } from "./turn/compact.ts";
import { busyError, type LoopState } from "./turn/loopState.ts";
import { Steps } from "./turn/steps.ts";
import { checkStart, type TurnStart } from "./turn/turnStart.ts";

/** A conversation between a user, a model behind a provider, and the tools of a registry. */
export class Agent {
  readonly toolRegistry: AnyToolRegistry;
  readonly #state: LoopState;

  /** Throws an AgentError `invalid_option` for an unknown option, a limit not above 0, or a missing provider or registry. */
  constructor(provider: Provider, given: AgentOptions = {}) {
    checkProvider(provider);
    const options = optionsOf(given);
    const history = new History();
    const steering: string[] = [];
    const { systemPrompt = "", compaction, stopRepeats } = options;
    const steps = new Steps(options.steps);
    const state = { provider, history, steps, steering, compaction, stopRepeats, systemPrompt, running: false };
    const context = contextOf(state, options.sessionContextFilePath ?? defaultSessionFile);
    const { tools = new ToolRegistry([createSaveSessionContextTool(context)]) } = options;
    this.toolRegistry = checkedTools(typeof tools === "function" ? tools(context) : tools);
    this.#state = Object.assign(state, { tools: this.toolRegistry, limits: options });
    if (options.journal !== undefined)
      this.#keepJournal(options.journal, { name: options.sessionName, onError: options.onJournalError });
  }

  /**
   * Continues a saved session; a journal is continued in its own file. Called on a subclass, it makes one of that. Throws
   * an AgentError `bad_session` when the session cannot be read.
   */
  static async resume<Kind extends Agent>(
    this: new (
      provider: Provider,
      options?: AgentOptions,
    ) => Kind,
    provider: Provider,
    fileOrSession: string | Session,
    options: AgentOptions = {},
  ): Promise<Kind> {
    checkPlainOptions(options);
    const { session, journal } = await openSession(fileOrSession);
    const { systemPrompt } = session;
    const lines = linesOf(session);
    // `this` may be a subclass, such as the preset of @toolcrib/defaults.
    const agent = new this(provider, { ...options, systemPrompt: options.systemPrompt ?? systemPrompt });
    agent.#state.history.restore(lines);
    const isSame = options.journal === undefined || options.journal === fileOrSession;
    const resumed = isSame ? journal : undefined;
    const file = resumed && typeof fileOrSession === "string" ? fileOrSession : options.journal;
    if (file !== undefined)
      agent.#keepJournal(file, { name: session.name, resumed, lines, onError: options.onJournalError });
    return agent;
  }

  /**
   * Runs one turn and resolves to the final text. Rejects with an AgentError: `busy`, `aborted`, `ended` (with `reason` and
   * the text so far) when the turn ended without an answer, or what the provider threw. The agent stays usable.
   */
  async chat(message: UserContent, options?: ChatOptions): Promise<string> {
    return answerFrom(this.streamChat(message, options));
  }

  /** Runs one turn and yields its events, `end` last. Throws on failure. Leaving the iteration ends the turn. */
  streamChat(message: UserContent, options?: ChatOptions): AsyncGenerator<AgentEvent, void> {
    return this.#turn({ message }, options);
  }

  /** Returns the questions for the user; empty while no call waits for an answer. */
  get pending(): readonly PendingCall[] {
    return this.#state.history.pending;
  }

  /**
   * Answers questions by the id of the call (true, false, a reason to deny, `{ args }` or `{ output }`) and lets the turn that
   * asked go on: records the answers, then runs the calls in order. What has no answer goes on waiting. `{ upTo: n }` allows n calls of a program, of
   * the same tool and below the folder that the question offers (`question.data.upTo`). Resolves and rejects as `chat` does.
   */
  async approve(answers: Answers, options?: ApproveOptions): Promise<string> {
    return answerFrom(this.streamApprove(answers, options));
  }

  /** Does the same as `approve`, yielding the events as `streamChat` does. */
  streamApprove(answers: Answers, options?: ApproveOptions): AsyncGenerator<AgentEvent, void> {
    return this.#turn({ answers }, options);
  }

  /** Adds a message to the next step of the running turn; when no turn runs, to the start of the next one. */
  steer(text: string): void {
    if (text.trim() !== "") this.#state.steering.push(text);
  }

  /**
   * Shortens the conversation now: it begins anew with a summary by the model, of what its request can hold. Resolves to what was done, or undefined where
   * that would save too little.
   */
  async compact(options: Pick<ChatOptions, "signal"> = {}): Promise<Compacted | undefined> {
    this.#begin();
    try {
      const { compactNow } = await import("./turn/loop.ts");
      return await compactNow(this.#state, options.signal);
    } finally {
      this.#state.running = false;
    }
  }

  async *#turn(start: TurnStart, options: ChatOptions = {}): AsyncGenerator<AgentEvent, void> {
    this.#begin();
    try {
      const checked = checkStart(this.pending, start, options);
      // Not needed to make an agent: programs that only offer its tools do not wait for it.
      const { runTurn } = await import("./turn/loop.ts");
      for await (const event of runTurn(this.#state, checked, options)) {
        options.stopWhen?.see?.(event);
        yield event;
      }
    } finally {
      this.#state.running = false;
    }
  }

  /** Throws an AgentError `busy` while a turn runs. */
  #begin(): void {
    if (this.#state.running) throw busyError();
    this.#state.running = true;
  }

  #keepJournal(file: string, start: Partial<JournalStart> = {}): void {
    this.#state.history.recorder = new Journal({ systemPrompt: () => this.systemPrompt, ...start, file });
  }

  /** Returns the schemas of the enabled tools. */
  getTools(): ChatTool[] {
    return this.toolRegistry.getEnabledSchemas();
  }

  addTool(tool: ExecutableTool): void {
    this.toolRegistry.register(tool);
  }

  removeTool(name: string): void {
    this.toolRegistry.unregister(name);
  }

  enableTool(name: string): boolean {
    return this.toolRegistry.enable(name);
  }

  disableTool(name: string): boolean {
    return this.toolRegistry.disable(name);
  }

  /** Runs `save_session_context` and returns its answer. */
  async saveContext(reason: string): Promise<string> {
    return await this.toolRegistry.execute("save_session_context", { reason });
  }

  /** Takes effect on the next request. */
  setSystemPrompt(text: string): void {
    this.#state.systemPrompt = text;
  }

  get systemPrompt(): string {
    return this.#state.systemPrompt;
  }

  /** Forgets the conversation, and what waits for an answer; throws an AgentError `busy` while a turn runs. */
  clearContext(): void {
    if (this.#state.running) throw busyError();
    this.#state.history.clear();
  }

  /** Returns the conversation so far, oldest first. */
  get sessionContext(): readonly Message[] {
    return [...this.#state.history.messages];
  }

  get provider(): Provider {
    return this.#state.provider;
  }

  /** Tokens and cost of the session so far. */
  get usage(): Usage {
    return this.#state.history.state.usage;
  }
}

/** Returns the lines of which a saved conversation is made again. */
function linesOf({ messages, usage, pending, foundTools, opening, changes = [] }: Session): ConversationLine[] {
  const kept = { ...(pending && { pending }), ...(foundTools && { foundTools }), ...(opening && { opening, changes }) };
  const said = messages.length + Object.keys(kept).length > 0 ? [{ type: "messages", messages, ...kept } as const] : [];
  return usage ? [...said, { type: "usage", usage }] : said;
}

/** Creates the context for tools. Its getters read the agent's present state. */
function contextOf(state: Pick<LoopState, "systemPrompt" | "history">, sessionContextFilePath: string): ToolContext {
  return Object.freeze({
    get systemPrompt() {
      return state.systemPrompt;
    },
    get sessionContext() {
      return [...state.history.messages];
    },
    get kept() {
      return state.history.kept;
    },
    sessionContextFilePath,
  });
}

async function answerFrom(events: AsyncIterable<AgentEvent>): Promise<string> {
  let last: AgentEvent | undefined;
  for await (const event of events) last = event;
  if (last?.type === "end") return answerOf(last);
  throw new AgentError({ code: "bad_reply", message: "The turn ended without an end event." });
}

function answerOf({ reason, text, detail, pending }: Extract<AgentEvent, { type: "end" }>): string {
  if (reason === "stop") return text;
  const said = detail === undefined ? "" : ` The service said: ${detail}`;
  throw new AgentError({
    code: "ended",
    message: `The turn ended before the answer was complete: ${reason}${advice[reason]}.${said}`,
    reason,
    text,
    ...(detail !== undefined && { detail }),
    ...(pending && { pending }),
  });
}

const advice = {
  "step-limit": "; send a message to continue, or raise maxSteps",
  "token-limit": "; send a message to continue, or raise the provider's maxTokens",
  "context-limit":
    "; the message, the prompt and the tools alone are too long for the model: send less, or use another one",
  refusal: "; the model refused",
  "content-filter": "; the service's filter stopped the reply",
  stuck: "; the model repeated the same calls: say what to do instead",
  approval: "; calls wait for an answer: see pending, and answer with agent.approve",
} as const;
