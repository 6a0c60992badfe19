import { type AgentEvent, type Compacted, listSessions } from "@toolcrib/agent";
import { nearestName } from "@toolcrib/core";
import { type BackgroundJobs, createBackgroundJobs } from "@toolcrib/tools-bash";
import type { ExitReason } from "../exitReasons.ts";
import { explain } from "../explain.ts";
import { chooseModel, type ModelChoice } from "../model/modelChoice.ts";
import type { Program } from "../program.ts";
import { terminalAsker } from "../terminal/ask.ts";
import { type ChatInput, openChatInput } from "../terminal/chatInput.ts";
import { createRenderer, oneLine } from "../terminal/render.ts";
import type { Asker } from "../tools/approval.ts";
import { describePermissions } from "../tools/permissions.ts";
import { addConversationFlags, type Conversation, type ConversationFlags, openConversation } from "./conversation.ts";
import type { DefineCommand } from "./defineCommand.ts";
import { whyNoAnswer } from "./run.ts";

/** The commands of the conversation, and what `/help` says of each. */
const commands: Readonly<Record<string, string>> = {
  "/help": "this list",
  "/model [PROVIDER/MODEL]": "show the model, or change it",
  "/tools [enable|disable NAME]": "show the tools, or switch one on or off",
  "/permissions": "show what runs, is asked about and is refused, and the answers that are remembered",
  "/answer": "answer the questions that wait",
  "/jobs [stop ID]": "show the commands that run in the background, or end one",
  "/clear": "start a new conversation",
  "/compact": "shorten the older part of the conversation",
  "/resume [NUMBER]": "show the conversations of this directory, or continue one",
  "/stats": "messages, tokens and cost so far",
  "/quit": "leave (also Ctrl-D)",
};

/** `toolcrib chat`: a line is a message; lines may be piped in, too. */
export const define: DefineCommand = (command, action) => addConversationFlags(command).action(action(chat));

async function chat(program: Program, flags: ConversationFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  let session: ChatSession | undefined;
  // Until there is a session, Ctrl-C ends the program.
  const onInterrupt = (): void => (session ? session.interrupt() : interrupts.interrupt());
  // Opened first, so that lines typed while the rest starts are kept.
  const input = openChatInput(terminal, onInterrupt);
  let conversation: Conversation | undefined;
  try {
    const choice = await chooseModel(flags, program.env);
    const { keyboard } = input;
    const asker = (): Asker | undefined =>
      keyboard && terminalAsker({ terminal, interrupt: interrupts.interrupt, keyboard });
    const jobs = createBackgroundJobs();
    conversation = await openConversation(choice.provider, flags, program, asker, jobs);
    terminal.note(terminal.style.dim(`${choice.why} /help lists commands.`));
    session = createSession(conversation, jobs, choice, input, program);
    // A question that the user has left open, or that a crash has: it is on disk, and so is everything before it.
    if (conversation.agent.pending.length > 0) await session.take("/answer");
    for (let line = await input.next(); line !== undefined; line = await input.next()) {
      if (line.trim() === "/quit" || line.trim() === "/exit") break;
      await session.take(line.trim());
    }
    return "ok";
  } finally {
    input.close();
    await conversation?.close();
  }
}

interface ChatSession {
  take(line: string): Promise<void>;
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
  const note = (line: string): void => terminal.note(terminal.style.dim(line));
  let { provider } = first;
  let warned = false;

  const turn = async (start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void> => {
    const render = createRenderer(terminal.style);
    try {
      await interrupts.during(async (signal) => {
        for await (const event of start(signal)) {
          terminal.print(render(event));
          if (event.type === "end" && event.reason !== "stop") note(whyNoAnswer(event));
        }
      });
    } catch (error) {
      // Ends the line of the answer.
      terminal.print(render({ type: "end", reason: "stop", text: "" }));
      throw error;
    }
  };

  const command = async (line: string): Promise<void> => {
    const [name = "", ...words] = line.split(/\s+/);
    switch (name) {
      case "/help":
        for (const [usage, meaning] of Object.entries(commands)) note(`${usage.padEnd(30)} ${meaning}`);
        return;
      case "/model":
        if (words[0] !== undefined) {
          const chosen = await chooseModel({ model: words[0] }, program.env);
          conversation.useModel(chosen.provider);
          provider = chosen.provider;
          if (!chosen.isNamed) return note(chosen.why);
        }
        return note(`${provider.name}/${provider.model}`);
      case "/tools":
        return note(tools(conversation, words));
      case "/permissions":
        return note((await describePermissions(conversation.permissions)).join("\n"));
      case "/answer":
        if (conversation.agent.pending.length === 0) return note("No question waits.");
        return turn((signal) => conversation.answer(signal));
      case "/jobs":
        return note(await jobsAnswer(jobs, words));
      case "/clear":
        await conversation.switchTo();
        return note("A new conversation begins; /resume finds the one before.");
      case "/compact":
        return note(shortened(await interrupts.during((signal) => conversation.agent.compact({ signal }))));
      case "/resume":
        return note(await resume(conversation, words[0]));
      case "/stats":
        return note(stats(conversation));
      default: {
        const nearest = nearestName(
          name,
          Object.keys(commands).map((usage) => usage.split(" ")[0] ?? ""),
        );
        return note(`There is no command ${name}${nearest ? `; did you mean ${nearest}?` : ";"} /help lists them.`);
      }
    }
  };

  return {
    async take(line) {
      warned = false;
      if (line === "") return;
      try {
        await (line.startsWith("/") ? command(line) : turn((signal) => conversation.turn(line, signal)));
      } catch (error) {
        terminal.note(terminal.style.red(explain(error).message));
      }
    },
    interrupt() {
      if (interrupts.running || warned) return interrupts.interrupt();
      warned = true;
      input.clear();
      note("Ctrl-C again, or /quit, leaves.");
    },
  };
}

/** What `/tools` answers. */
function tools({ agent }: Conversation, [verb, name = ""]: string[]): string {
  const registry = agent.toolRegistry;
  if (verb === undefined) {
    return registry
      .listTools()
      .map((tool) => `${tool.enabled ? "on " : "off"}  ${tool.name}`)
      .join("\n");
  }
  if (verb !== "enable" && verb !== "disable") return "Write /tools, /tools enable NAME or /tools disable NAME.";
  const known = verb === "enable" ? agent.enableTool(name) : agent.disableTool(name);
  if (known) return `${name} is ${registry.isToolEnabled(name) ? "on" : "off"}.`;
  const nearest = nearestName(name, registry.getToolNames());
  return `There is no tool ${name || "without a name"}${nearest ? `; did you mean ${nearest}?` : "."}`;
}

/** What `/jobs` answers. */
async function jobsAnswer(jobs: BackgroundJobs, [verb, id = ""]: string[]): Promise<string> {
  if (verb === "stop")
    return (await jobs.stop(id))
      ? `${id} has ended.`
      : `There is no job ${oneLine(id, 40) || "without an id"}; /jobs lists them.`;
  if (verb !== undefined) return "Write /jobs, or /jobs stop ID.";
  const rows = jobs.list().map(({ id, running, exitCode, command }) => {
    const state = running ? "running" : `exit ${exitCode}`;
    return `${id}  ${state.padEnd(8)}  ${oneLine(command, 100)}`;
  });
  return rows.length > 0 ? rows.join("\n") : "No command was started in the background.";
}

/** What `/compact` answers. */
function shortened(done: Compacted | undefined): string {
  if (!done) return "There is nothing to shorten.";
  return `Tool results cleared: ${done.clearedResults}; messages summarised: ${done.summarisedMessages}.`;
}

/** What `/resume` answers: the list of conversations, or which one is continued. */
async function resume(conversation: Conversation, number: string | undefined): Promise<string> {
  const found = (await listSessions(conversation.folder)).slice(0, 20);
  if (found.length === 0) return "No conversation was held in this directory yet.";
  const rows = found.map(({ changedAt, name, topic }, index) => {
    const time = changedAt.toISOString().slice(0, 16).replace("T", " ");
    return `${String(index + 1).padStart(2)}  ${time}  ${oneLine(name ?? topic, 80) || "(empty)"}`;
  });
  if (number === undefined) return `${rows.join("\n")}\n/resume NUMBER continues one.`;
  const chosen = /^\d+$/.test(number) ? found[Number(number) - 1] : undefined;
  if (!chosen) return `There is no conversation ${number}: write /resume and a number from 1 to ${found.length}.`;
  await conversation.switchTo(chosen.file);
  return `Continuing${rows[Number(number) - 1]?.slice(2)}: ${conversation.agent.sessionContext.length} messages.`;
}

/** What `/stats` answers. */
function stats({ agent: { sessionContext, usage } }: Conversation): string {
  const count = (value: number): string => value.toLocaleString("en-US");
  const cost = usage.cost === undefined ? "cost unknown" : `$${usage.cost.toFixed(4)}`;
  return (
    `${count(sessionContext.length)} messages; tokens: ${count(usage.inputTokens)} in ` +
    `(${count(usage.cacheReadTokens)} from the cache), ${count(usage.outputTokens)} out; ${cost}`
  );
}
