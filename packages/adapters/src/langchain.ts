import { type ContentBlock, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import type { ChatTool, JsonSchema } from "@toolcrib/core";
import type { AgentMiddleware, HITLRequest } from "langchain";
import {
  type AdapterOptions,
  callTool,
  decisionOn,
  everySchema,
  type ToolAnswer,
  type ToolSource,
} from "./registryCall.ts";

export { fromLangChainTool } from "./fromLangChainTool.ts";

type Arguments = Record<string, unknown>;

/** Options of `toLangChainTools` and `registryMiddleware`. */
interface LangChainOptions extends AdapterOptions {
  /**
   * `interrupt` of `@langchain/langgraph`: the question of a guard then interrupts the graph, which needs a checkpointer. The value is a
   * request of LangChain's human-in-the-loop middleware (`actionRequests`), and `new Command({ resume: { decisions } })` answers it,
   * also in another process.
   */
  interrupt?: ((request: HITLRequest) => unknown) | undefined;
}

/** A tool of a registry as LangChain sees it; `schema` is a JSON Schema. */
type LangChainRegistryTool = DynamicStructuredTool<JsonSchema, Arguments, Arguments>;

/**
 * Returns the enabled tools for `createAgent({ tools })`, `model.bindTools` or a `ToolNode`. A failure is a ToolMessage with status
 * `error`, or an error thrown when the tool is invoked without a tool call. The list does not change later; a call to a tool
 * that was disabled since is refused.
 */
export function toLangChainTools(registry: ToolSource, options: LangChainOptions = {}): LangChainRegistryTool[] {
  return registry.getEnabledSchemas().map((schema) => toLangChainTool(registry, schema, options));
}

/**
 * Creates middleware for `createAgent({ middleware })` with the tools of a registry. Before each request it shows the model those that
 * are enabled. Use it instead of `toLangChainTools`.
 */
export function registryMiddleware(registry: ToolSource, options: LangChainOptions = {}): AgentMiddleware {
  const tools = everySchema(registry).map((schema) => toLangChainTool(registry, schema, options));
  const disabled = (): Set<unknown> => new Set(tools.filter((tool) => !registry.isToolEnabled(tool.name)));
  return {
    name: "toolcrib",
    tools,
    wrapModelCall: (request, handler) => {
      const hidden = disabled();
      return handler({ ...request, tools: request.tools.filter((tool) => !hidden.has(tool)) });
    },
  };
}

function toLangChainTool(
  registry: ToolSource,
  { function: { name, description, parameters } }: ChatTool,
  { interrupt, ...options }: LangChainOptions,
): LangChainRegistryTool {
  const func = async (args: Arguments, _manager: unknown, config: ToolRunnableConfig = {}): Promise<unknown> => {
    const { signal, toolCall } = config;
    const callId = toolCall?.id;
    let { approve } = options;
    const decision = interrupt && (await decisionOn(registry, name, args, { labels: options.labels, callId }));
    if (interrupt && decision && "question" in decision) {
      // Not inside the call: an interrupt is thrown, and it comes back here with the answer.
      const { text } = decision.question;
      const answer = answerOf(interrupt(requestFor(name, args, text)));
      approve = (_call, question) => (question.text === text ? answer : "the user has answered another question");
    }
    const answer = await callTool(registry, name, args, { ...options, approve, signal, callId });
    const { data: artifact, error, text } = answer;
    if (callId === undefined && error) throw new Error(text, { cause: error });
    if (callId === undefined || (!error && artifact === undefined)) return toContent(answer);
    const message = { content: toContent(answer), tool_call_id: callId, name };
    // An artifact is kept with the message, and not sent to the model.
    return new ToolMessage(error ? { ...message, status: "error" } : { ...message, artifact });
  };
  // LangChain would check arguments against the schema that it shows, and so refuse what the registry would repair.
  const unchecked = new DynamicStructuredTool({ name, description, schema: { type: "object" }, func });
  const shown: LangChainRegistryTool = new DynamicStructuredTool({ name, description, schema: parameters, func });
  shown.call = unchecked.call.bind(unchecked) as typeof shown.call;
  return shown;
}

function requestFor(name: string, args: Arguments, description: string): HITLRequest {
  return {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "reject"] }],
  };
}

/** Returns true only for the decision `approve`; a rejection's message is the reason that the model reads. */
function answerOf(resumed: unknown): boolean | string {
  const { decisions }: { decisions?: { type?: unknown; message?: unknown }[] } = Object(resumed);
  const [decision] = Array.isArray(decisions) ? decisions : [];
  if (decision?.type === "approve") return true;
  return typeof decision?.message === "string" ? decision.message : false;
}

function toContent({ text, images }: ToolAnswer): string | ContentBlock[] {
  if (images.length === 0) return text;
  const pictures = images.map(({ data, mimeType }) => ({
    type: "image_url",
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  return [{ type: "text", text }, ...pictures];
}
