import {
  anyOf,
  type ChatOptions,
  type CostLimit,
  createObjectAnswer,
  isAgentError,
  type ObjectAnswer,
  type Provider,
  type UserContent,
} from "@toolcrib/agent";
import { type JsonSchema, ToolRegistry } from "@toolcrib/core";
import { isPlainObject } from "@toolcrib/core/internal";
import { CliError, type ExitReason, usageError } from "../../exitReasons.ts";
import { messageOf } from "../../explain.ts";
import type { FlagsOf } from "../../flags.ts";
import { chooseModel } from "../../model/modelChoice.ts";
import type { Program } from "../../program.ts";
import { conversationFlags } from "../../sharedFlags.ts";
import { parseJson, readGivenFile } from "../../state/givenFile.ts";
import { runSessionName } from "../../state/sessionFile.ts";
import { type Asker, terminalAsker } from "../../terminal/ask.ts";
import { pickByNumber } from "../../terminal/choices.ts";
import { readPrompt } from "../../terminal/prompt.ts";
import { whyNotRun } from "../../tools/allowAdvice.ts";
import { type Conversation, openConversation } from "../conversation.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";
import { exitReasonOf, type TurnEnd, whyNoAnswer } from "../turnEnd.ts";
import { costLimit, startTimeLimit } from "./limits.ts";
import { createReport, type Report } from "./report.ts";

const flags = {
  // True without a text: then the words are the prompt.
  prompt: { usage: "-p, --prompt [text]", about: "the prompt, too" },
  outputFormat: {
    usage: "--output-format <format>",
    about: "text, one JSON object, or events as JSON",
    value: ["text", "json", "stream-json"],
  },
  outputSchema: {
    usage: "--output-schema <file>",
    about: "answer with a value that fits this JSON Schema",
  },
  maxCost: {
    usage: "--max-cost <dollars>",
    about: "end once the replies have cost this much",
    value: "dollars",
  },
  timeout: { usage: "--timeout <duration>", about: "end after this time, such as 90s or 5m", value: "duration" },
  ...conversationFlags,
} as const;

type RunFlags = FlagsOf<typeof flags>;

/** `toolcrib run`: one task. */
export const run: DefineCommand = defineCommand({
  flags,
  arguments: [["[prompt...]", "what to do; @FILE puts a file in; what is piped in comes first"]],
  run: (program, given, [words]) => runTask(program, words, given),
});

async function runTask(program: Program, words: readonly string[], flags: RunFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const report = createReport(flags.outputFormat ?? "text", flags.outputSchema !== undefined, terminal);
  const time = startTimeLimit(flags.timeout);
  let end: TurnEnd | undefined;
  let started: Started | undefined;
  const notRun: string[] = [];
  try {
    const note = (line: string): void => terminal.aside(line);
    const { prompt: given } = flags;
    const prompt = await time.during(readPrompt(typeof given === "string" ? [given, ...words] : words, note));
    const task = await time.during(start(program, flags));
    started = task;
    end = await interrupts.during((signal) => perform(task, prompt, report, AbortSignal.any([signal, time.signal])));
    // A remote says what a call would do until the conversation is closed.
    for (const call of end?.pending?.slice(0, mostPendingShown) ?? [])
      notRun.push(await whyNotRun(call, task.conversation.agent.toolRegistry, task.conversation.permissions));
  } catch (error) {
    if (!started || !time.signal.aborted) {
      report.failure(error, started ? aboutRun(started) : {});
      throw error;
    }
    end = { type: "end", reason: "time-limit", text: (isAgentError(error) && error.text) || "" };
  } finally {
    terminal.tail("");
    await started?.conversation.close();
  }
  const { conversation, answer } = started;
  const exitReason = exitReasonOf(end, conversation.denied);
  report.end(end, { ok: exitReason === "ok", output: answer?.given, about: aboutRun(started) });
  for (const line of notRun) terminal.note(line);
  if (end?.reason !== "stop") terminal.note(whyNoAnswer(end));
  return exitReason;
}

const mostPendingShown = 5;

interface Started {
  readonly provider: Provider;
  readonly conversation: Conversation;
  readonly cost: CostLimit | undefined;
  /** With `--output-schema`. */
  readonly answer: ObjectAnswer<unknown> | undefined;
}

async function start(program: Program, flags: RunFlags): Promise<Started> {
  const { terminal } = program;
  const { outputSchema, maxCost } = flags;
  const schema = outputSchema === undefined ? undefined : await readOutputSchema(outputSchema);
  const { provider, why, isNamed } = await chooseModel(flags);
  const cost = costLimit(maxCost, provider);
  if (!isNamed) terminal.aside(why);
  const asker = (): Asker | undefined => terminalAsker(program);
  const user = asker();
  const given = { ...flags, offersShell: user !== undefined, sessionName: runSessionName };
  const pick = user && pickByNumber(user, terminal.note);
  const conversation = await openConversation(provider, given, program, asker, { pick });
  const answer = schema && createObjectAnswer(conversation.agent.toolRegistry, schema, undefined, provider);
  return { provider, conversation, cost, answer };
}

/** Asks the model, and again where it gave no value for `--output-schema`; returns how the last turn ended. */
async function perform(
  { conversation, cost, answer }: Started,
  prompt: UserContent,
  report: Report,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  const stopWhen = anyOf(...[answer?.options, cost].flatMap((one) => one?.stopWhen ?? []));
  const turn = async (message: UserContent, choice: ChatOptions = {}): Promise<TurnEnd | undefined> => {
    let end: TurnEnd | undefined;
    for await (const event of conversation.turn(message, signal, { ...answer?.options, stopWhen, ...choice })) {
      cost?.see(event);
      if (event.type === "end") end = event;
      else report.event(event);
    }
    return end?.reason === "stop" && cost?.reached ? { ...end, reason: cost.reached } : end;
  };
  const end = await turn(prompt);
  await answer?.readFrom(conversation.agent.sessionContext);
  if (!answer || answer.given || end?.reason !== "stop") return end;
  const { message, toolChoice } = answer.reminder;
  const last = await turn(message, { toolChoice });
  await answer.readFrom(conversation.agent.sessionContext);
  if (answer.given || last?.reason !== "stop") return last;
  throw new CliError("failed", "the model gave no value that fits --output-schema; try again, or simplify the schema");
}

function aboutRun({ provider, conversation }: Started): object {
  return { model: `${provider.name}/${provider.model}`, usage: conversation.agent.usage };
}

/** Reads the schema in the file that `--output-schema` names. Throws a usage error where an answer cannot be held to it. */
async function readOutputSchema(path: string): Promise<JsonSchema> {
  const what = `--output-schema ${path}`;
  const text = await readGivenFile(path, what);
  if (text === undefined) throw usageError(`${what}: there is no such file`);
  const schema = parseJson(text, what);
  if (!isPlainObject(schema)) throw usageError(`${what}: expected a JSON Schema, which is an object`);
  try {
    createObjectAnswer(new ToolRegistry(), schema);
    return schema;
  } catch (error) {
    throw usageError(`${what}: ${messageOf(error)}`);
  }
}
