import { type FunctionTool, type RunConfig, type ToolOutputImage, type ToolOutputText, tool } from "@openai/agents";
import { toOpenAIResponsesTool } from "@toolcrib/core";
import { type AdapterOptions, callTool, everySchema, parseArguments, type ToolSource } from "./registryCall.ts";

type Parameters = FunctionTool["parameters"];
/** Without the one field by which a tool for any context would not be a tool for a given one. */
type RegistryTool = Omit<FunctionTool<unknown, Parameters>, "customDataExtractor">;

/**
 * The registry's tools for `new Agent({ tools })`, the disabled ones too: before each request of the model the agent asks
 * which are enabled now. That API has no mark for a failed call, so a failure is its text.
 */
export function toOpenAIAgentsTools(registry: ToolSource, options: AdapterOptions = {}): RegistryTool[] {
  const needsApproval = neverAsk();
  return everySchema(registry)
    .map(toOpenAIResponsesTool)
    .map(({ name, parameters, ...tool }) => ({
      ...tool,
      name,
      parameters: parameters as Parameters,
      needsApproval,
      isEnabled: async () => registry.isToolEnabled(name),
      invoke: async (_context, input, details) => {
        const call = { ...options, signal: details?.signal, callId: details?.toolCall?.callId };
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
 * Options for `run(agent, input, options)` or `new Runner(options)`: a call to a tool that the agent does not show (one
 * disabled in mid-run, an unknown name) is answered to the model. Without them the SDK ends the run with a ModelBehaviorError.
 */
export function openAIAgentsRunOptions(
  registry: ToolSource,
  options: AdapterOptions = {},
): Required<Pick<RunConfig, "toolNotFoundBehavior" | "toolErrorFormatter">> {
  return {
    toolNotFoundBehavior: "return_error_to_model",
    toolErrorFormatter: async ({ kind, toolName, callId }) => {
      // Through the registry, so that its middleware sees the refused call; one that is enabled is not ours to run here.
      if (kind !== "tool_not_found" || registry.isToolEnabled(toolName)) return undefined;
      return (await callTool(registry, toolName, {}, { ...options, callId })).text;
    },
  };
}

/** The SDK takes only a policy of its own making for constant; with any other, a call with broken arguments waits for a person. */
function neverAsk(): RegistryTool["needsApproval"] {
  const parameters: Parameters = { type: "object", properties: {}, required: [], additionalProperties: true };
  return tool({ name: "none", description: "", parameters, strict: false, execute: () => "" }).needsApproval;
}
