import type { AgentEvent } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { type BackgroundJobs, createBackgroundJobs } from "@toolcrib/tools-bash";
import type { ExitReason } from "../../exitReasons.ts";
import { explain } from "../../explain.ts";
import { chooseModel, type ModelChoice } from "../../model/modelChoice.ts";
import type { Program } from "../../program.ts";
import { type Asker, terminalAsker } from "../../terminal/ask.ts";
import type { ChatInput } from "../../terminal/chatLines.ts";
import { createRenderer, usageText } from "../../terminal/render.ts";
import { nextMode } from "../../tools/permissions.ts";
import type { ConversationFlags } from "../buildAgent.ts";
import { type Conversation, openConversation } from "../conversation.ts";
import { whyNoAnswer } from "../turnEnd.ts";
import { describeLastExchange } from "./describeContext.ts";
import { runOwnCommand } from "./ownCommand.ts";
import { runSlashCommand, type SlashContext, slashCommands } from "./slashCommands.ts";

/** Holds a conversation until the user leaves. From its begin on, `interrupts` gets what Ctrl-C does. */
export async function converse(
  program: Program,
  flags: ConversationFlags,
  input: ChatInput,
  interrupts: { interrupt(): void },
): Promise<ExitReason> {
  const { terminal } = program;
  const choice = await chooseModel(flags);
  const { keyboard } = input;
  const asker = (): Asker | undefined => keyboard && terminalAsker(program, keyboard);
  const jobs = createBackgroundJobs();
  const given = { ...flags, offersShell: asker() !== undefined };
  const conversation = await openConversation(choice.provider, given, program, asker, jobs);
  try {
    terminal.aside(`${choice.why} /help lists commands.`);
    const session = createSession(conversation, jobs, choice, input, program);
    interrupts.interrupt = session.interrupt;
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

interface ChatSession {
  take(line: string): Promise<void>;
  /** Whether the user has left. */
  readonly hasEnded: boolean;
  /** Ctrl-C at the terminal. */
  interrupt(): void;
}

function createSession(
  conversation: Conversation,
  jobs: BackgroundJobs,
  first: ModelChoice,
  input: ChatInput,
  program: Program,
): ChatSession {
  const { terminal, interrupts } = program;
  const note = (line: string): void => terminal.aside(line);
  let { provider } = first;
  /** What had been typed when the last Ctrl-C came. */
  let warnedAt: number | undefined;
  let hasEnded = false;
  /** The last command of the user's own, for the model. */
  let shared: string | undefined;

  const turn = async (start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void> => {
    const view = (await input.screen?.startTurn()) ?? printedTurn(program);
    try {
      await interrupts.during(async (signal) => {
        for await (const event of start(signal)) {
          view.show(event);
          if (event.type === "end" && event.reason !== "stop") note(whyNoAnswer(event, true));
        }
      });
    } finally {
      view.end();
    }
  };
  const sendMessage = async (message: string): Promise<void> => {
    await turn((signal) => conversation.turn(message, signal));
    if (conversation.permissions.mode === "plan") note("Shift-Tab, or /mode ask, and it can do what it has proposed.");
  };
  const ownCommand = async (command: string): Promise<void> => {
    if (command === "") return note("Write !COMMAND to run one of your own.");
    const outcome = await interrupts.during((signal) => runOwnCommand(command, terminal, signal));
    shared = outcome.forModel;
    note(`${outcome.end} /share shows it to the model.`);
  };
  const context: SlashContext = {
    program,
    conversation,
    jobs,
    get model() {
      return `${provider.name}/${provider.model}`;
    },
    async useModel(model) {
      const chosen = await chooseModel({ ...first.settings, model });
      conversation.useModel(chosen.provider);
      provider = chosen.provider;
      return chosen.isNamed ? undefined : chosen.why;
    },
    turn,
    async share(words) {
      if (shared === undefined) return "There is nothing to share: !COMMAND runs a command of your own.";
      await sendMessage([shared, ...words].join("\n\n"));
      return undefined;
    },
    pick: input.screen && ((rows) => input.screen?.pick(rows) ?? Promise.resolve(undefined)),
    leave() {
      hasEnded = true;
    },
  };
  input.screen?.tell({
    facts: () => [context.model, usageText(conversation.agent.usage), "/help"],
    mode: () => conversation.permissions.mode,
    changeMode: () => conversation.setMode(nextMode(conversation.permissions.mode)),
  });
  input.screen?.completeWith({
    commands: slashCommands,
    wordsAfter: async (name, words) =>
      (await slashCommands.find((one) => one.name === name)?.complete?.(context, words)) ?? [],
    files: (typed, signal) => filesLike(typed, conversation.agent.toolRegistry, signal),
  });

  return {
    get hasEnded() {
      return hasEnded;
    },
    async take(line) {
      warnedAt = undefined;
      if (line === "") return;
      try {
        if (line === "exit" || line === "quit") return context.leave();
        if (line.startsWith("!")) return await ownCommand(line.slice(1).trim());
        if (!line.startsWith("/")) return await sendMessage(line);
        const told = await runSlashCommand(line, context);
        if (told !== undefined) note(told);
      } catch (error) {
        terminal.note(terminal.style.red(explain(error).message));
      }
    },
    interrupt() {
      if (interrupts.running || warnedAt === input.typed) return interrupts.interrupt();
      warnedAt = input.typed;
      input.clear();
      note("Ctrl-C again, or /quit, leaves.");
    },
  };
}

/** The events of a turn as lines, one after the other. */
function printedTurn({ terminal }: Program): { show(event: AgentEvent): void; end(): void } {
  const render = createRenderer(terminal.style);
  return {
    show: (event) => terminal.print(render(event)),
    // Ends the line of the answer.
    end: () => terminal.print(render({ type: "end", reason: "stop", text: "" })),
  };
}

const mostFiles = 30;

/** Files whose path holds what was typed, as the model's own search finds them: what the project ignores or a rule denies is left out. */
async function filesLike(typed: string, registry: AnyToolRegistry, signal: AbortSignal): Promise<string[]> {
  const name = typed.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");
  const pattern = name === "" ? "*" : `**/*${name}*`;
  const outcome = await registry.invoke("search_files", { pattern, max_results: mostFiles }, { signal });
  const { files = [] } = ((outcome.ok ? outcome.data : undefined) as { readonly files?: string[] } | undefined) ?? {};
  return files;
}
