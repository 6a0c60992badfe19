import { resolve } from "node:path";
import {
  type AgentEvent,
  anyOf,
  type ChatOptions,
  type CostLimit,
  createCostLimit,
  createObjectAnswer,
  isAgentError,
  type ObjectAnswer,
  type Provider,
  type UserContent,
} from "@toolcrib/agent";
import { modelPrice } from "@toolcrib/agent/models";
import { sessionId } from "@toolcrib/agent/sessions";
import { type JsonSchema, ToolRegistry } from "@toolcrib/core";
import { isPlainObject, untilAborted } from "@toolcrib/core/internal";
import { CliError, type ExitReason, usageError } from "../../exitReasons.ts";
import { formatVersion, jsonError, messageOf } from "../../explain.ts";
import type { FlagsOf } from "../../flags.ts";
import { chooseModel } from "../../model/modelChoice.ts";
import type { Program } from "../../program.ts";
import { conversationFlags } from "../../sharedFlags.ts";
import { parseJson, readGivenFile } from "../../state/givenFile.ts";
import { runSessionName } from "../../state/sessionFile.ts";
import { type Asker, pickByNumber, terminalAsker } from "../../terminal/ask.ts";
import { readPrompt } from "../../terminal/prompt.ts";
import { createRenderer } from "../../terminal/render.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { whyNotRun } from "../../tools/allowAdvice.ts";
import { type Conversation, openConversation } from "../conversation.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";
import { exitReasonOf, type TurnEnd, whyNoAnswer } from "../turnEnd.ts";

const flags = {
  // True without a text: then the words are the prompt.
  prompt: { usage: "-p, --prompt [text]", about: "the prompt, too" },
  outputFormat: {
    usage: "--output-format <format>",
    about: "text, one JSON object, or events as JSON",
    value: ["text", "json", "stream-json"],
  },
  outputSchema: { usage: "--output-schema <file>", about: "answer with a value that fits this JSON Schema" },
  maxCost: {
    usage: "--max-cost <dollars>",
    about: "end the run once the replies have cost this much",
    value: "dollars",
  },
  timeout: { usage: "--timeout <duration>", about: "end after this time, such as 90s or 5m", value: "duration" },
  ...conversationFlags,
} as const;

type RunFlags = FlagsOf<typeof flags>;

export const run: DefineCommand = defineCommand({
  flags,
  arguments: [["[prompt...]", "the task; @FILE adds a file; piped text comes first"]],
  run: (program, given, [words]) => runTask(program, words, given),
});

async function runTask(program: Program, words: readonly string[], flags: RunFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const report = createReport(flags.outputFormat ?? "text", flags.outputSchema !== undefined, terminal);
  const timeout = new AbortController();
  const timer =
    flags.timeout === undefined
      ? undefined
      : setTimeout(() => timeout.abort(new CliError("limit", tooEarly)), flags.timeout);
  let end: TurnEnd | undefined;
  let started: Started | undefined;
  const notRun: string[] = [];
  try {
    const { prompt: given } = flags;
    const all = typeof given === "string" ? [given, ...words] : words;
    const prompt = await untilAborted(readPrompt(all, program), timeout.signal);
    const task = await untilAborted(start(program, flags, runSessionName(all.join(" "))), timeout.signal);
    started = task;
    end = await interrupts.during((signal) => perform(task, prompt, report, AbortSignal.any([signal, timeout.signal])));
    // A remote says what a call would do until the conversation is closed.
    for (const call of end?.pending?.slice(0, mostPendingShown) ?? [])
      notRun.push(await whyNotRun(call, task.conversation.agent.toolRegistry, task.conversation.permissions));
  } catch (error) {
    if (!started || !timeout.signal.aborted) {
      report.failure(error, started ? aboutRun(started) : {});
      throw error;
    }
    end = { type: "end", reason: "time-limit", text: (isAgentError(error) && error.text) || "" };
  } finally {
    clearTimeout(timer);
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
const tooEarly = "the time limit was reached before the model was asked; raise --timeout";

interface Started {
  readonly provider: Provider;
  readonly conversation: Conversation;
  /** Kept here: a closed conversation has none. */
  readonly journal: string | undefined;
  readonly cost: CostLimit | undefined;
  /** With `--output-schema`. */
  readonly answer: ObjectAnswer<unknown> | undefined;
}

async function start(program: Program, flags: RunFlags, sessionName: string): Promise<Started> {
  const { terminal } = program;
  const { outputSchema, maxCost } = flags;
  const schema = outputSchema === undefined ? undefined : await readOutputSchema(outputSchema, program.cwd);
  const { provider, why, isNamed } = await chooseModel(flags, program.env);
  const cost = costLimit(maxCost, provider);
  if (!isNamed) terminal.aside(why);
  const asker = (): Asker | undefined => terminalAsker(program);
  const user = asker();
  const given = { ...flags, offersShell: user !== undefined, sessionName };
  const pick = user && pickByNumber(user, terminal.note);
  const conversation = await openConversation(provider, given, program, { asker, pick });
  const answer = schema && createObjectAnswer(conversation.agent.toolRegistry, schema, undefined, provider);
  return { provider, conversation, journal: conversation.journal, cost, answer };
}

/** Asks the model, and again where it gave no value for `--output-schema`; returns how the last turn ended. */
async function perform(
  { conversation, cost, answer }: Started,
  prompt: UserContent,
  report: Report,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  const stopWhen = anyOf(...[answer?.options.stopWhen, cost].flatMap((one) => one ?? []));
  const turn = async (message: UserContent, choice: ChatOptions = {}): Promise<TurnEnd | undefined> => {
    let end: TurnEnd | undefined;
    for await (const event of conversation.turn(message, signal, { ...answer?.options, stopWhen, ...choice })) {
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

function aboutRun({ provider, conversation: { agent }, journal }: Started): object {
  const model = `${provider.name}/${provider.model}`;
  return { model, usage: agent.usage, ...(journal !== undefined && { sessionId: sessionId(journal) }) };
}

/** Reads the schema in the file that `--output-schema` names. Throws a usage error where an answer cannot be held to it. */
async function readOutputSchema(path: string, cwd: string): Promise<JsonSchema> {
  const what = `--output-schema ${path}`;
  const text = await readGivenFile(resolve(cwd, path), what);
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

/** Makes the limit of `--max-cost`; undefined without it. Throws a usage error for a model whose replies will not say what they cost. */
function costLimit(most: number | undefined, provider: Provider): CostLimit | undefined {
  if (most === undefined) return undefined;
  // OpenRouter says what each reply has cost, and the stand-in is free.
  if (/^(?:openrouter|offline)$/.test(provider.name) || modelPrice(provider)) return createCostLimit(most, provider);
  throw usageError(
    `--max-cost: the price of ${provider.name}/${provider.model} is not known; use --max-steps or --timeout`,
  );
}

type OutputFormat = "text" | "json" | "stream-json";

interface RunSummary {
  readonly ok: boolean;
  /** By `--output-schema`. */
  readonly output?: { readonly value: unknown } | undefined;
  readonly about: object;
}

interface Report {
  event(event: Exclude<AgentEvent, { type: "end" }>): void;
  end(end: TurnEnd | undefined, summary: RunSummary): void;
  failure(error: unknown, about: object): void;
}

/** `id` only of a call that has others within it, whose `within` it is. */
interface ReportedCall {
  id?: string;
  readonly name: string;
  readonly args: object;
  isError?: boolean;
  readonly within?: string;
}

function addCall(
  { id, name, args, within }: Extract<AgentEvent, { type: "tool-call" }>,
  calls: Map<string, ReportedCall>,
): void {
  calls.set(id, { name, args, ...(within !== undefined && { within }) });
  const outer = within === undefined ? undefined : calls.get(within);
  if (outer && within !== undefined) outer.id = within;
}

/** Prints what happens: text as it comes, or one JSON object at the end, or each event as a line of JSON. `asObject`: the text of the model is no answer. */
function createReport(format: OutputFormat, asObject: boolean, terminal: Terminal): Report {
  const line = (value: object): void => terminal.data(`${JSON.stringify(value)}\n`);
  const render = createRenderer(terminal.style);
  const notes = (event: AgentEvent): void => terminal.print(render(event).filter(({ to }) => to !== "stdout"));
  const print = (event: AgentEvent): void => terminal.print(render(event));
  if (format === "text") {
    return {
      event: asObject ? notes : print,
      end(_end, { output }) {
        if (output) terminal.data(`${JSON.stringify(output.value, undefined, 2)}\n`);
        // Ends the line of the answer.
        else if (!asObject) print({ type: "end", reason: "stop", text: "" });
      },
      failure: () => {},
    };
  }
  const toolCalls = new Map<string, ReportedCall>();
  const calls = (): object => (format === "json" ? { toolCalls: [...toolCalls.values()] } : {});
  return {
    event(event) {
      if (format === "stream-json") return line(event);
      notes(event);
      if (event.type === "tool-call") addCall(event, toolCalls);
      if (event.type === "tool-result") Object.assign(toolCalls.get(event.id) ?? {}, { isError: event.isError });
    },
    end: (end, { ok, output, about }) =>
      line({ type: "end", formatVersion, ok, ...end, ...about, ...(output && { output: output.value }), ...calls() }),
    failure: (error, about) => terminal.data(jsonError(error, { ...about, ...calls() })),
  };
}
