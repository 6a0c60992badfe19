import type { FunctionTool, RunConfig, ToolOutputImage, ToolOutputText } from "@openai/agents";
import { type AdapterOptions, callTool, everySchema, parseArguments, type ToolSource } from "./registryCall.ts";

type RegistryTool = FunctionTool<unknown>;

/**
 * The registry's tools for `new Agent({ tools })`, the disabled ones too: before each request of the model the agent asks
 * which are enabled now. That API has no mark for a failed call, so a failure is its text.
 */
export function toOpenAIAgentsTools(registry: ToolSource, options: AdapterOptions = {}): RegistryTool[] {
  return everySchema(registry).map(({ function: { name, description, parameters, strict } }) => ({
    type: "function",
    name,
    description,
    parameters: parameters as RegistryTool["parameters"],
    strict: strict ?? false,
    needsApproval: async () => false,
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
