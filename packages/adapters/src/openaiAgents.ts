import { type FunctionTool, type RunConfig, type ToolOutputImage, type ToolOutputText, tool } from "@openai/agents";
import { definitionFor } from "@toolcrib/core/internal";
import {
  type AdapterOptions,
  callTool,
  decisionOn,
  everySchema,
  parseArguments,
  type ToolSource,
} from "./registryCall.ts";

type Parameters = FunctionTool["parameters"];
/** Without `customDataExtractor`, whose type would make a tool for any context unusable for a given one. */
type RegistryTool = Omit<FunctionTool<unknown, Parameters>, "customDataExtractor">;

/** Options of `toOpenAIAgentsTools`. */
interface OpenAIAgentsOptions extends AdapterOptions {
  /**
   * The questions of guards become interruptions of the run: `state.approve` or `state.reject` answers them, also after
   * `RunState.fromString` in another process. The SDK then also interrupts for a call whose arguments are no JSON. Default: false.
   */
  interrupt?: boolean | undefined;
}

/**
 * Returns the tools of a registry for `new Agent({ tools })`, including the disabled ones: before each request the agent asks which are
 * enabled. A failure is its text, because that API cannot mark a call as failed.
 */
export function toOpenAIAgentsTools(
  registry: ToolSource,
  { interrupt = false, ...options }: OpenAIAgentsOptions = {},
): RegistryTool[] {
  const never = neverAsk();
  return everySchema(registry)
    .map((schema) => definitionFor(schema, "chat"))
    .map(({ name, parameters, ...tool }) => ({
      type: "function",
      ...tool,
      name,
      parameters: parameters as Parameters,
      needsApproval: interrupt
        ? async (_context, input, callId) => {
            const decision = await decisionOn(registry, name, input, { labels: options.labels, callId });
            return decision !== undefined && "question" in decision;
          }
        : never,
      isEnabled: async () => registry.isToolEnabled(name),
      invoke: async (context, input, details) => {
        const callId = details?.toolCall?.callId;
        const isApproved = interrupt && callId !== undefined && context.isToolApproved({ toolName: name, callId });
        const approve = isApproved ? () => true : options.approve;
        const call = { ...options, approve, signal: details?.signal, callId };
        const { text, images } = await callTool(registry, name, parseArguments(input), call);
        if (images.length === 0) return text;
        const pictures = images.map(
          ({ data, mimeType }): ToolOutputImage => ({ type: "image", image: { data, mediaType: mimeType } }),
        );
        return [{ type: "text", text } satisfies ToolOutputText, ...pictures];
      },
    }));
}

/**
 * Returns options for `run(agent, input, options)` or `new Runner(options)`. A call to a tool that the agent does not show (unknown, or
 * disabled during the run) is answered to the model. Without them the SDK ends the run with a ModelBehaviorError.
 */
export function openAIAgentsRunOptions(
  registry: ToolSource,
  options: AdapterOptions = {},
): Required<Pick<RunConfig, "toolNotFoundBehavior" | "toolErrorFormatter">> {
  return {
    toolNotFoundBehavior: "return_error_to_model",
    toolErrorFormatter: async ({ kind, toolName, callId }) => {
      // Through the registry, so that its middleware sees the refused call. A tool that is enabled must not run here.
      if (kind !== "tool_not_found" || registry.isToolEnabled(toolName)) return undefined;
      return (await callTool(registry, toolName, {}, { ...options, callId })).text;
    },
  };
}

/**
 * Never asks. The SDK recognises only a policy that it made itself as constant. With any other, a call with broken arguments waits for
 * approval.
 */
function neverAsk(): RegistryTool["needsApproval"] {
  const parameters: Parameters = { type: "object", properties: {}, required: [], additionalProperties: true };
  return tool({ name: "none", description: "", parameters, strict: false, execute: () => "" }).needsApproval;
}
