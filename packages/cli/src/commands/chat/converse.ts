import type { AgentEvent } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { createBackgroundJobs } from "@toolcrib/tools-bash";
import type { ExitReason } from "../../exitReasons.ts";
import { explain } from "../../explain.ts";
import { chooseAnother, chooseModel, type ModelChoice } from "../../model/modelChoice.ts";
import { offeredModels } from "../../model/offeredModels.ts";
import { linesToConnect } from "../../model/waysToConnect.ts";
import type { Program } from "../../program.ts";
import { type Asker, terminalAsker } from "../../terminal/ask.ts";
import type { ChatInput } from "../../terminal/chatLines.ts";
import { pickByNumber } from "../../terminal/choices.ts";
import { readMention, withMentions } from "../../terminal/mentions.ts";
import { createRenderer, usageText } from "../../terminal/render.ts";
import { nextMode } from "../../tools/permissions.ts";
import { readThere } from "../../tools/remote.ts";
import type { ConversationFlags } from "../buildAgent.ts";
import { openConversation } from "../conversation.ts";
import { whyNoAnswer } from "../turnEnd.ts";
import { describeLastExchange } from "./describeContext.ts";
import { runOwnCommand } from "./ownCommand.ts";
import { readPromptCommands } from "./promptCommands.ts";
import { RecentCalls } from "./recentCalls.ts";
import { runSlashCommand, slashCommands } from "./slashCommands.ts";
import type { SlashContext } from "./slashContext.ts";

const withoutModel = `No model is connected; a stand-in, which is none, answers a few requests. To connect one:
${linesToConnect}, then /model
/help lists commands.`;

/** Holds a conversation until the user leaves. From its begin on, `interrupts` gets what Ctrl-C does. */
export async function converse(
  program: Program,
  flags: ConversationFlags,
  input: ChatInput,
  interrupts: { interrupt(): void },
): Promise<ExitReason> {
  const { terminal } = program;
  const choice = await chooseModel(flags);
  const { keyboard, screen } = input;
  const asker = (): Asker | undefined => keyboard && terminalAsker(program, keyboard);
  const user = asker();
  const pick = screen ? screen.pick : user && pickByNumber(user, terminal.note);
  const jobs = createBackgroundJobs();
  const given = { ...flags, offersShell: user !== undefined };
  const conversation = await openConversation(choice.provider, given, program, asker, { jobs, pick });
  try {
    terminal.aside(choice.isOffline ? withoutModel : `${choice.why} /help lists commands.`);
    const more = await readPromptCommands(program);
    const session = new ChatSession({ program, conversation, jobs, asker: user, pick, more }, choice, input);
    interrupts.interrupt = () => session.interrupt();
    const last = describeLastExchange(conversation);
    if (last !== undefined) terminal.aside(last);
    // A question that the user has left open, or that a crash has: it is on disk, and so is everything before it.
    if (conversation.agent.pending.length > 0) await session.take("/answer");
    while (!session.hasEnded) {
      const line = await input.next();
      if (line === undefined) break;
      await session.take(line.trim());
    }
    return "ok";
  } finally {
    await conversation.close();
  }
}

type SessionParts = Pick<SlashContext, "program" | "conversation" | "jobs" | "asker" | "pick" | "more">;

/** Takes the lines of the user: messages, commands of the conversation, commands of the user's own. */
class ChatSession {
  readonly #context: SlashContext;
  readonly #input: ChatInput;
  readonly #calls = new RecentCalls();
  /** What had been typed when the last Ctrl-C came. */
  #warnedAt: number | undefined;
  /** The last command of the user's own, for the model. */
  #shared: string | undefined;
  /** Tells whether the user has left. */
  hasEnded = false;

  constructor(parts: SessionParts, first: ModelChoice, input: ChatInput) {
    const { program, conversation } = parts;
    const { interrupts, env } = program;
    let current = first;
    this.#input = input;
    this.#context = {
      ...parts,
      calls: this.#calls,
      get model() {
        return `${current.provider.name}/${current.provider.model}`;
      },
      async useModel(model) {
        const chosen = await chooseAnother(first, model);
        conversation.useModel(chosen.provider);
        current = chosen;
        return chosen.isNamed ? undefined : chosen.why;
      },
      offeredModels: () => interrupts.during((signal) => offeredModels(current, env, signal)),
      turn: (start) => this.#turn(start),
      send: (text, typed) => this.#send(text, typed),
      share: (words) => this.#share(words),
      leave: () => {
        this.hasEnded = true;
      },
    };
    this.#fillScreen();
  }

  async take(line: string): Promise<void> {
    const { terminal } = this.#context.program;
    this.#warnedAt = undefined;
    if (line === "") return;
    try {
      if (line === "exit" || line === "quit") return this.#context.leave();
      if (line.startsWith("!")) return await this.#runOwn(line.slice(1).trim());
      if (!line.startsWith("/")) return await this.#send(line);
      const told = await runSlashCommand(line, this.#context);
      if (told !== undefined) terminal.aside(told);
    } catch (error) {
      terminal.note(terminal.style.red(explain(error).message));
    }
  }

  /** Ctrl-C at the terminal. */
  interrupt(): void {
    const { interrupts, terminal } = this.#context.program;
    if (interrupts.running || this.#warnedAt === this.#input.typed) {
      interrupts.interrupt();
      return;
    }
    this.#warnedAt = this.#input.typed;
    this.#input.clear();
    terminal.aside("Ctrl-C again, or /quit, leaves.");
  }

  /** Gives the screen, if there is one, what it shows of the conversation and what can be completed. */
  #fillScreen(): void {
    const context = this.#context;
    const { conversation } = context;
    this.#input.screen?.tell({
      facts: () => [context.model, usageText(conversation.agent.usage), "/help"],
      mode: () => conversation.permissions.mode,
      changeMode: () => conversation.setMode(nextMode(conversation.permissions.mode)),
    });
    this.#input.screen?.completeWith({
      commands: slashCommands(context),
      wordsAfter: async (name, words) =>
        (await slashCommands(context)
          .find((one) => one.name === name)
          ?.complete?.(context, words)) ?? [],
      files: (typed, signal) => filesLike(typed, conversation.agent.toolRegistry, signal),
    });
  }

  async #turn(start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void> {
    const { program } = this.#context;
    const view = (await this.#input.screen?.startTurn()) ?? printedTurn(program);
    try {
      await program.interrupts.during(async (signal) => {
        for await (const event of start(signal)) {
          this.#calls.see(event);
          view.show(event);
          if (event.type === "end" && event.reason !== "stop") program.terminal.aside(whyNoAnswer(event, true));
        }
      });
    } finally {
      view.end();
    }
  }

  /** `typed`: where names of files count. */
  async #send(text: string, typed: string = text): Promise<void> {
    const { conversation, program } = this.#context;
    const { remote } = conversation;
    const message = await program.interrupts.during((signal) =>
      withMentions(text, remote ? (path) => readThere(remote, path, signal) : readMention, typed),
    );
    await this.#turn((signal) => conversation.turn(message, signal));
    if (conversation.permissions.mode === "plan")
      program.terminal.aside("Shift-Tab, or /mode ask, and it can do what it has proposed.");
  }

  async #runOwn(command: string): Promise<void> {
    const { terminal, interrupts } = this.#context.program;
    if (command === "") return terminal.aside("Write !COMMAND to run one of your own.");
    const outcome = await interrupts.during((signal) => runOwnCommand(command, terminal, signal));
    this.#shared = outcome.forModel;
    terminal.aside(`${outcome.end} /share shows it to the model.`);
  }

  async #share(words: readonly string[]): Promise<string | undefined> {
    if (this.#shared === undefined) return "There is nothing to share: !COMMAND runs a command of your own.";
    const about = words.join(" ");
    await this.#send([this.#shared, about].filter(Boolean).join("\n\n"), about);
    return undefined;
  }
}

/** Prints the events of a turn as lines, one after the other. */
function printedTurn({ terminal }: Program): { show(event: AgentEvent): void; end(): void } {
  const render = createRenderer(terminal.style);
  return {
    show: (event) => terminal.print(render(event)),
    // Ends the line of the answer.
    end: () => terminal.print(render({ type: "end", reason: "stop", text: "" })),
  };
}

const mostFiles = 30;

/**
 * Lists the folders that go on from what was typed, then files whose path holds it, as the model's own tools find them: what the project
 * ignores or a rule denies is left out.
 */
async function filesLike(typed: string, registry: AnyToolRegistry, signal: AbortSignal): Promise<string[]> {
  const name = typed.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");
  const pattern = name === "" ? "*" : `**/*${name}*`;
  const [, folder = "", start = ""] = /^(.*\/)?([^/]*)$/s.exec(typed) ?? [];
  const [listed, found] = await Promise.all([
    registry.invoke("list_dir", { path: folder || "." }, { signal }),
    registry.invoke("search_files", { pattern, max_results: mostFiles }, { signal }),
  ]);
  const { entries = [] } = ((listed.ok ? listed.data : undefined) ?? {}) as {
    readonly entries?: readonly { readonly name: string; readonly type: string }[];
  };
  const { files = [] } = ((found.ok ? found.data : undefined) ?? {}) as { readonly files?: readonly string[] };
  const folders = entries.filter((entry) => entry.type === "directory" && entry.name.startsWith(start));
  const isHidden = (entry: { readonly name: string }): boolean => entry.name.startsWith(".") && !start.startsWith(".");
  return [...folders.filter((entry) => !isHidden(entry)).map((entry) => `${folder}${entry.name}/`), ...files];
}
