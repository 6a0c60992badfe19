import { type AgentEvent, type EndReason, isAgentError, type Provider } from "@toolcrib/agent";
import { Option } from "commander";
import { CliError, type ExitReason } from "../exitReasons.ts";
import { messageOf } from "../explain.ts";
import { chooseModel } from "../model/modelChoice.ts";
import type { Program } from "../program.ts";
import { terminalAsker } from "../terminal/ask.ts";
import { readPrompt } from "../terminal/prompt.ts";
import { createRenderer, oneLine } from "../terminal/render.ts";
import { whyNotRun } from "../tools/allowAdvice.ts";
import { addConversationFlags, type Conversation, type ConversationFlags, openConversation } from "./conversation.ts";
import type { DefineCommand } from "./defineCommand.ts";

interface RunFlags extends ConversationFlags {
  /** True for a `-p` without a text. */
  readonly prompt?: string | boolean | undefined;
  readonly json?: boolean | undefined;
  readonly jsonl?: boolean | undefined;
}

/** `toolcrib run`: one task. */
export const define: DefineCommand = (command, action) =>
  addConversationFlags(
    command
      .argument("[prompt...]", "what to do; @FILE puts a file in; what is piped in comes first")
      .option("-p, --prompt [text]", "the prompt, too")
      .addOption(new Option("--json", "print one JSON object at the end").conflicts("jsonl"))
      .option("--jsonl", "print each event as a line of JSON"),
  ).action(action(run));

async function run(program: Program, words: readonly string[], flags: RunFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const note = (line: string): void => terminal.note(terminal.style.dim(line));
  const report = reporter(flags, program);
  let end: TurnEnd | undefined;
  let conversation: Conversation | undefined;
  let provider: Provider;
  try {
    const prompt = await readPrompt(typeof flags.prompt === "string" ? [flags.prompt, ...words] : words, note);
    const choice = await chooseModel(flags);
    if (!choice.isNamed) note(choice.why);
    provider = choice.provider;
    conversation = await openConversation(provider, flags, program, () =>
      terminalAsker({ terminal, interrupt: interrupts.interrupt }),
    );
    const { turn } = conversation;
    await interrupts.during(async (signal) => {
      for await (const event of turn(prompt, signal)) {
        report.event(event);
        if (event.type === "end") end = event;
      }
    });
  } catch (error) {
    report.failure(error);
    throw error;
  } finally {
    terminal.tail("");
    await conversation?.close();
  }
  const { agent } = conversation;
  const exitReason = exitReasonOf(end, conversation.denied);
  report.done({ ok: exitReason === "ok", model: `${provider.name}/${provider.model}`, usage: agent.usage });
  for (const call of end?.pending?.slice(0, mostPendingShown) ?? [])
    terminal.note(await whyNotRun(call, agent.toolRegistry, conversation.permissions));
  if (end?.reason !== "stop") terminal.note(whyNoAnswer(end));
  return exitReason;
}

const mostPendingShown = 5;

type TurnEnd = Extract<AgentEvent, { type: "end" }>;

function exitReasonOf(end: TurnEnd | undefined, denied: boolean): ExitReason {
  if (end?.failed && !denied) return "failed";
  switch (end?.reason) {
    case "stop":
      return denied ? "denied" : "ok";
    case "step-limit":
    case "token-limit":
    case "context-limit":
      return "limit";
    case "approval":
      return "denied";
    default:
      return "failed";
  }
}

/** Why there is no whole answer, what to do next, and what the service said of it. */
export function whyNoAnswer(end: TurnEnd | undefined): string {
  const detail = end?.detail && ` The service said: ${oneLine(end.detail, 300)}`;
  return `${adviceFor(end?.reason)}${detail ?? ""}`;
}

function adviceFor(reason: EndReason | undefined): string {
  switch (reason) {
    case "step-limit":
      return "The step limit was reached before the answer: go on with toolcrib run -c, or raise --max-steps.";
    case "token-limit":
      return "The answer was cut off at the model's limit for one reply: go on with toolcrib run -c.";
    case "context-limit":
      return "The conversation is too long for this model: begin a new one, or choose another with -m.";
    case "approval":
      return "What was not run waits for your answer: toolcrib chat -c asks for it. A message instead of an answer is a no.";
    case "refusal":
      return "The model refused to answer: ask in another way, or choose another with -m.";
    case "content-filter":
      return "The service's filter stopped the answer: ask in another way.";
    default:
      return "The turn ended without an answer: try again.";
  }
}

interface Reporter {
  event(event: AgentEvent): void;
  failure(error: unknown): void;
  done(about: object): void;
}

/** Prints text as it comes, or one JSON object at the end, or each event as a line of JSON. */
function reporter(flags: RunFlags, { terminal }: Program): Reporter {
  const line = (value: object): void => terminal.data(`${JSON.stringify(value)}\n`);
  const failed = (error: unknown): object => ({
    error: {
      code: isAgentError(error) ? error.code : error instanceof CliError ? error.exitReason : "failed",
      message: messageOf(error),
    },
  });
  if (flags.jsonl) {
    return { event: line, failure: (error) => line({ type: "error", ...failed(error) }), done: () => {} };
  }
  const render = createRenderer(terminal.style);
  if (!flags.json) return { event: (event) => terminal.print(render(event)), failure: () => {}, done: () => {} };
  const calls: Record<string, { name: string; args: object; isError?: boolean }> = {};
  let result: Partial<Pick<TurnEnd, "reason" | "detail" | "pending">> & { text: string } = { text: "" };
  return {
    event(event) {
      terminal.print(render(event).filter(({ to }) => to !== "stdout"));
      if (event.type === "tool-call") calls[event.id] = { name: event.name, args: event.args };
      if (event.type === "tool-result" && calls[event.id])
        Object.assign(calls[event.id] as object, { isError: event.isError });
      if (event.type === "end") {
        const { reason, text, detail, pending } = event;
        result = { reason, text, ...(detail !== undefined && { detail }), ...(pending && { pending }) };
      }
    },
    failure: (error) => line({ ok: false, ...failed(error), toolCalls: Object.values(calls) }),
    done: (about) => line({ ...about, ...result, toolCalls: Object.values(calls) }),
  };
}
