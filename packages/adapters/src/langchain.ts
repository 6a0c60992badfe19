import { BaseMessage, type ContentBlock, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import type { ChatTool, ExecuteOptions, JsonSchema } from "@toolcrib/core";
import { definitionFor } from "@toolcrib/core/internal";
import type { AgentMiddleware } from "langchain";
import {
  brokenText,
  imagesBehindResults,
  lastReply,
  notesOf,
  repairCalls,
  rewordUnknown,
  withNotes,
} from "./langchainMessages.ts";
import { type KeepLog, parkingOf, runParking } from "./langchainPrograms.ts";
import { type Answered, approvalOf, askAll, type Call, type Interrupt } from "./langchainQuestions.ts";
import {
  type AdapterOptions,
  callTool,
  dataUrl,
  enabledSchemas,
  everySchema,
  type ToolAnswer,
  type ToolSource,
} from "./registryCall.ts";

export { fromLangChainTool } from "./fromLangChainTool.ts";

type Arguments = Record<string, unknown>;

/** Options of `toLangChainTools` and `registryMiddleware`. */
interface LangChainOptions extends AdapterOptions {
  /**
   * `interrupt` of `@langchain/langgraph`: the questions of guards then interrupt the graph, which needs a checkpointer. The value is a
   * request of LangChain's human-in-the-loop middleware (`actionRequests`, each with the `id` of its call), and
   * `new Command({ resume: { decisions } })` answers it, also in another process: as many decisions as requests, in their order.
   * A value that answers several interrupts at once needs the `id` of the call in each decision. With anything else nothing
   * runs, and the same question is asked again.
   */
  interrupt?: Interrupt | undefined;
  /**
   * Keeps the lines of a program, so that questions about its calls interrupt the graph too. It is called with the id of the program's call in
   * the graph, and returns `lines`, those kept so far, and `write(lines)`, which adds some. Without it such a call rejects in the program.
   * A decision may be `{ type: "approve", upTo: n }` where its request names a folder as `upTo`.
   */
  log?: KeepLog | undefined;
}

/** A tool of a registry as LangChain sees it; `schema` is a JSON Schema. */
type LangChainRegistryTool = DynamicStructuredTool<JsonSchema, Arguments, Arguments>;

/**
 * Returns the enabled tools for `createAgent({ tools })`, `model.bindTools` or a `ToolNode`. A failure is a ToolMessage with status
 * `error`, or an error thrown when the tool is invoked without a tool call. The list does not change later; a call to a tool
 * that was disabled since is refused.
 */
export function toLangChainTools(registry: ToolSource, options: LangChainOptions = {}): LangChainRegistryTool[] {
  const settings = { ...options, ask: asker(registry, options) };
  return enabledSchemas(registry).map((schema) => toLangChainTool(registry, schema, settings));
}

/**
 * Creates middleware for `createAgent({ middleware })` with the tools of a registry. Before each request it shows the model those that
 * are enabled. All questions about one reply are one interrupt. A call whose arguments are no JSON and one of an unknown name get
 * the registry's words, and images stand behind the results for models whose tool messages are only text. Use it instead of
 * `toLangChainTools`.
 */
export function registryMiddleware(registry: ToolSource, options: LangChainOptions = {}): AgentMiddleware {
  const settings = { ...options, ask: asker(registry, options), hasNotes: true };
  const tools = everySchema(registry).map((schema) => toLangChainTool(registry, schema, settings));
  const disabled = (): Set<unknown> => new Set(tools.filter((tool) => !registry.isToolEnabled(tool.name)));
  const { interrupt, labels } = options;
  return {
    // The name of a node, so it must differ between two registries of an agent and be the same in another process.
    name: ["toolcrib", ...tools.slice(0, 1).map(({ name }) => name)].join("_"),
    tools,
    wrapModelCall: async (request, handler) => {
      const hidden = disabled();
      await rewordUnknown(registry, request.messages, options);
      const messages = (await takesImages(request.model)) ? request.messages : imagesBehindResults(request.messages);
      const reply = await handler({ ...request, messages, tools: request.tools.filter((tool) => !hidden.has(tool)) });
      return repairCalls(registry, reply);
    },
    ...(interrupt && {
      afterModel: async ({ messages }, { configurable = {} }) => {
        const reply = lastReply(messages);
        const calls = openCalls(registry, messages);
        if (!reply || calls.length === 0) return undefined;
        const answers = await askAll(registry, calls, { interrupt, labels }, configurable);
        return answers.length === 0 ? undefined : { messages: [withNotes(reply, { answers })] };
      },
    }),
  };
}

/** Returns the calls of the last reply to tools of the registry that have no result yet. */
function openCalls(registry: ToolSource, messages: readonly BaseMessage[]): Call[] {
  const reply = lastReply(messages);
  // Only behind the reply: some servers begin with the same ids in every reply.
  const behind = reply ? messages.slice(messages.indexOf(reply) + 1) : [];
  const ended = new Set(behind.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])));
  const open = reply?.tool_calls?.filter(({ id = "", name }) => !ended.has(id) && registry.hasTool(name)) ?? [];
  return open.map(({ id, name, args }) => ({ id, name, args: brokenText(reply, id) ?? args }));
}

/** Chat completions take only text in tool messages; of a model that is not known the same is assumed. */
async function takesImages(model: object): Promise<boolean> {
  const known: { _useResponsesApi?(options: object): boolean; _llmType?(): string } =
    "_getModelInstance" in model && typeof model._getModelInstance === "function"
      ? await model._getModelInstance()
      : model;
  return known._useResponsesApi?.({}) ?? /anthropic|google|vertex|bedrock/i.test(known._llmType?.() ?? "");
}

type Ask = (config: ToolRunnableConfig, call: Call, answered: readonly Answered[]) => Promise<readonly Answered[]>;

/**
 * Returns a function that asks before a tool runs. Calls that share a task of the graph are asked about together and wait for each
 * other, because after an interrupt every one of them starts again.
 */
function asker(registry: ToolSource, { interrupt, labels }: LangChainOptions): Ask | undefined {
  if (!interrupt) return undefined;
  const shared = new WeakMap<object, Promise<Answered[]>>();
  return async (config, call, answered) => {
    const { configurable = {} } = config;
    const ask = (calls: readonly Call[]): Promise<Answered[]> =>
      askAll(registry, calls, { interrupt, labels }, configurable);
    const input: unknown = configurable.__pregel_scratchpad?.currentTaskInput ?? Object(config).state;
    const all = isOwnTask(input) ? [] : openCalls(registry, messagesOf(input));
    const open = all.filter((each) => !approvalOf(answered, each));
    if (!open.some(({ id }) => id === call.id)) return ask([call]);
    const key = Object(input);
    const answers = shared.get(key) ?? ask(open);
    shared.set(key, answers);
    return answers.catch((error: unknown) => {
      shared.delete(key);
      throw error;
    });
  };
}

/** Returns whether no other call runs in the same task of the graph. */
function isAlone({ configurable = {}, ...config }: ToolRunnableConfig): boolean {
  const input: unknown = configurable.__pregel_scratchpad?.currentTaskInput ?? Object(config).state;
  if (isOwnTask(input)) return true;
  const messages = messagesOf(input);
  const reply = lastReply(messages);
  return reply !== undefined && (reply.tool_calls?.length ?? 0) + (reply.invalid_tool_calls?.length ?? 0) <= 1;
}

const isOwnTask = (input: unknown): boolean => Object(input).lg_tool_call !== undefined;

function messagesOf(input: unknown): BaseMessage[] {
  const messages: unknown = Array.isArray(input) ? input : Object(input).messages;
  return Array.isArray(messages) ? messages.filter((message) => BaseMessage.isInstance(message)) : [];
}

interface ToolSettings extends LangChainOptions {
  readonly ask?: Ask | undefined;
  /** True if the notes of a reply are the middleware's own. */
  readonly hasNotes?: boolean;
}

function toLangChainTool(
  registry: ToolSource,
  tool: ChatTool,
  { ask, hasNotes = false, interrupt, log, ...options }: ToolSettings,
): LangChainRegistryTool {
  const { name, description, parameters } = definitionFor(tool, "any");
  const func = async (given: Arguments, _manager: unknown, config: ToolRunnableConfig = {}): Promise<unknown> => {
    const { signal, toolCall } = config;
    const callId = toolCall?.id;
    const reply = lastReply(messagesOf(Object(config).state));
    const { answers = [] } = hasNotes ? notesOf(reply) : {};
    const call = { id: callId, name, args: brokenText(reply, callId) ?? given };
    const parking = await parkingOf(registry, { name, isAlone: isAlone(config) }, { interrupt, log }, config);
    // A program that has begun was allowed to; the values of the graph answer its own questions now.
    const hasBegun = (parking?.kept.lines.length ?? 0) > 0;
    const approve = hasBegun
      ? () => true
      : (approvalOf(answers, call) ?? (ask && approvalOf(await ask(config, call, answers), call)) ?? options.approve);
    const run = (caller?: ExecuteOptions["caller"]): Promise<ToolAnswer> =>
      callTool(registry, name, call.args, { ...options, approve, signal, callId, caller });
    const answer = parking ? await runParking(run, parking, config) : await run();
    const { data: artifact, error, text } = answer;
    if (callId === undefined && error) throw new Error(text, { cause: error });
    if (callId === undefined || (!error && artifact === undefined)) return toContent(answer);
    const message = { content: toContent(answer), tool_call_id: callId, name };
    // An artifact is kept with the message, and not sent to the model.
    return new ToolMessage(error ? { ...message, status: "error" } : { ...message, artifact });
  };
  // LangChain would check arguments against the schema that it shows, and so refuse what the registry would repair.
  const unchecked = new DynamicStructuredTool({ name, description, schema: {}, func });
  const shown: LangChainRegistryTool = new DynamicStructuredTool({ name, description, schema: parameters, func });
  shown.call = unchecked.call.bind(unchecked) as typeof shown.call;
  return shown;
}

function toContent({ text, images }: ToolAnswer): string | ContentBlock[] {
  if (images.length === 0) return text;
  const pictures = images.map((image) => ({ type: "image_url", image_url: { url: dataUrl(image) } }));
  return [{ type: "text", text }, ...pictures];
}
