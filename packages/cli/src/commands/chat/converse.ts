import type { AgentEvent } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { clip, withoutControls } from "@toolcrib/core/text";
import { createBackgroundJobs } from "@toolcrib/tools-bash";
import type { ExitReason } from "../../exitReasons.ts";
import { explain } from "../../explain.ts";
import { chooseAnother, chooseModel, type ModelChoice } from "../../model/modelChoice.ts";
import { offeredModels } from "../../model/offeredModels.ts";
import type { Program } from "../../program.ts";
import { shortConnectionAdvice } from "../../sharedFlags.ts";
import { type Asker, pickByNumber, terminalAsker } from "../../terminal/ask.ts";
import type { ChatInput } from "../../terminal/chatLines.ts";
import { mentionReader, readPastedOr, withMentions } from "../../terminal/prompt.ts";
import { RecentCalls } from "../../terminal/recentCalls.ts";
import { createRenderer, usageText } from "../../terminal/render.ts";
import { nextMode } from "../../tools/permissions.ts";
import { readRemoteFile } from "../../tools/remote.ts";
import { runShellLine } from "../../tools/runShellLine.ts";
import type { ConversationFlags } from "../buildAgent.ts";
import { openConversation } from "../conversation.ts";
import { whyNoAnswer } from "../turnEnd.ts";
import { describeLastExchange, quoted } from "./describeContext.ts";
import { readPromptCommands } from "./promptCommands.ts";
import { runSlashCommand, slashCommands } from "./slashCommands.ts";
import type { SlashContext } from "./slashContext.ts";

const withoutModel = `No model is connected; a simple stand-in answers a few requests. To connect a model:
${shortConnectionAdvice}, then /model
/help lists commands.`;

/** Holds a conversation until the user leaves; an empty `message` is none. */
export async function converse(
  program: Program,
  { flags, message }: { readonly flags: ConversationFlags; readonly message: string },
  input: ChatInput,
): Promise<ExitReason> {
  const { terminal } = program;
  const choice = await chooseModel(flags, program.env);
  const { keyboard, screen } = input;
  const asker = (): Asker | undefined => keyboard && terminalAsker(program, keyboard);
  const user = asker();
  const pick = screen ? screen.pick : user && pickByNumber(user, terminal.note);
  const jobs = createBackgroundJobs();
  const given = { ...flags, offersShell: user !== undefined, usesAllowedServers: true };
  const conversation = await openConversation(choice.provider, given, program, { asker, jobs, pick });
  try {
    terminal.aside(choice.isOffline ? withoutModel : `${choice.why} /help lists commands.`);
    const more = await readPromptCommands(program);
    const session = new ChatSession({ program, conversation, jobs, asker: user, pick, more }, choice, input);
    if (keyboard) program.interrupts.onIdle = () => session.warn();
    const last = describeLastExchange(conversation);
    if (last !== undefined) terminal.aside(last);
    // A question that the user has left open, or that a crash has: it is on disk, and so is everything before it.
    if (conversation.hasQuestions) await session.take("/answer");
    if (message !== "") await session.begin(message);
    while (!session.hasEnded) {
      const line = await input.next();
      if (line === undefined) break;
      await session.take(line.trim());
    }
    return "ok";
  } finally {
    jobs.end();
    await conversation.close();
  }
}

const leaveHint = "Ctrl-C again, or /quit, leaves.";

type SessionParts = Pick<SlashContext, "program" | "conversation" | "jobs" | "asker" | "pick" | "more">;

class ChatSession {
  readonly #context: SlashContext;
  readonly #input: ChatInput;
  readonly #calls: RecentCalls;
  /** The text typed when the last Ctrl-C came. */
  #warnedAt: number | undefined;
  #shared: string | undefined;
  hasEnded = false;

  constructor(parts: SessionParts, first: ModelChoice, input: ChatInput) {
    const { program, conversation } = parts;
    const { interrupts, env } = program;
    let current = first;
    this.#input = input;
    this.#calls = new RecentCalls(program.terminal.style);
    this.#context = {
      ...parts,
      calls: this.#calls,
      get model() {
        return current.name;
      },
      async useModel(model) {
        const chosen = await chooseAnother(first, model, env);
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
    this.#warnedAt = undefined;
    if (line !== "") await this.#explained(() => this.#run(line));
  }

  /** Sends the message of the command line: whatever it begins with, it is no command. */
  async begin(message: string): Promise<void> {
    this.#context.program.terminal.note(quoted(message));
    await this.#explained(() => this.#send(message));
  }

  async #run(line: string): Promise<void> {
    if (line === "exit" || line === "quit") return this.#context.leave();
    if (line.startsWith("!")) return await this.#runOwn(line.slice(1).trim());
    if (!line.startsWith("/") && line !== "?") return await this.#send(line);
    const told = await runSlashCommand(line === "?" ? "/help" : line, this.#context);
    if (told !== undefined) this.#context.program.terminal.note(told);
  }

  async #explained(task: () => Promise<void>): Promise<void> {
    const { terminal } = this.#context.program;
    try {
      await task();
    } catch (error) {
      terminal.note(terminal.style.red(explain(error).message));
    }
  }

  /** Handles Ctrl-C at the terminal while nothing runs; returns whether the conversation goes on. */
  warn(): boolean {
    if (this.#warnedAt === this.#input.typed) return false;
    this.#warnedAt = this.#input.typed;
    this.#input.clear(leaveHint);
    return true;
  }

  /** Gives the screen, if there is one, what it shows of the conversation and what can be completed. */
  #fillScreen(): void {
    const context = this.#context;
    const { conversation } = context;
    const status = {
      facts: () => [
        this.#warnedAt === this.#input.typed ? leaveHint : "",
        context.model,
        usageText(conversation.agent.usage),
        "/help",
      ],
      mode: () => conversation.permissions.mode,
      calls: this.#calls,
      changeMode: () => conversation.setMode(nextMode(conversation.permissions.mode)),
    };
    this.#input.screen?.tell(status, {
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

  /** Sends a message. `typed`: where names of files count. */
  async #send(text: string, typed: string = text): Promise<void> {
    const { conversation, program } = this.#context;
    const { remote } = conversation.parts.flags;
    const message = await program.interrupts.during((signal) =>
      withMentions(
        text,
        remote ? readPastedOr((path) => readRemoteFile(remote, path, signal)) : mentionReader(program.cwd),
        typed,
      ),
    );
    await this.#turn((signal) => conversation.turn(message, signal));
    if (conversation.permissions.mode === "plan")
      program.terminal.aside("Shift-Tab or /mode ask lets it do what it has proposed.");
  }

  async #runOwn(command: string): Promise<void> {
    const { program } = this.#context;
    const { terminal, interrupts } = program;
    if (command === "") return terminal.aside("Write !COMMAND to run your own command.");
    const outcome = await interrupts.during((signal) => runOwnCommand(command, program, signal));
    this.#shared = outcome.forModel;
    terminal.aside(`${outcome.end} /share shows it to the model.`);
  }

  async #share(words: readonly string[]): Promise<string | undefined> {
    if (this.#shared === undefined) return "There is nothing to share: !COMMAND runs your own command.";
    const about = words.join(" ");
    await this.#send([this.#shared, about].filter(Boolean).join("\n\n"), about);
    return undefined;
  }
}

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

const mostShared = 50_000;

/** Runs a command of the user's own in the shell, and prints what it prints. */
async function runOwnCommand(
  command: string,
  { host, cwd, terminal }: Program,
  signal: AbortSignal,
): Promise<{ readonly end: string; readonly forModel: string }> {
  let output = "";
  let line = "";
  const onOutput = (text: string): void => {
    output = clip(output + text, mostShared);
    const lines = (line + text).split("\n");
    line = lines.pop() ?? "";
    if (lines.length > 0) terminal.note(lines.map(withoutControls).join("\n"));
  };
  const ended = await runShellLine({ command, cwd, host, signal, killSignal: "SIGTERM", onOutput });
  if (line !== "") terminal.note(withoutControls(line));
  const end = ended.code === null ? `Ended by ${ended.signal}.` : `Exit ${ended.code}.`;
  return { end, forModel: `I ran \`${command}\`. ${end} It printed:\n\n${output.trimEnd() || "(nothing)"}` };
}
