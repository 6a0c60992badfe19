import { type ContentBlock, type ExecutableTool, type JsonSchema, ToolError, toolOutput } from "@toolcrib/core";
import { asSchema, type Tool } from "ai";

/** A result of a call, as the AI SDK sends it to a model. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool["toModelOutput"]>>>;

/**
 * Returns a tool of the AI SDK as a tool for a registry. Its own `inputSchema` checks the arguments, and `toModelOutput` makes the
 * result. Of a tool that yields, the last value counts. Rejects with a ToolError (`invalid_tool`) for a tool that the AI SDK
 * would not run by itself: one without `execute`, or with `needsApproval` (use `registry.guard`).
 */
export async function fromAiSdkTool(name: string, tool: Tool): Promise<ExecutableTool> {
  const { execute, description, toModelOutput } = tool;
  if (!execute) throw invalid(name, "it has no execute");
  if (tool.needsApproval)
    throw invalid(name, "it asks for approval; leave needsApproval out and use registry.guard(…)");
  const schema = asSchema(tool.inputSchema);
  const parameters = (await schema.jsonSchema) as JsonSchema;
  return {
    name,
    origin: "ai-sdk",
    getSchema: () => ({
      type: "function",
      function: {
        name,
        description: typeof description === "string" ? description : name,
        parameters,
        strict: tool.strict ?? false,
      },
    }),
    ...(schema.validate && {
      parseArguments: async (args: Record<string, unknown>) => {
        const result = await schema.validate?.(args);
        return result?.success === false ? { issues: issuesOf(result.error) } : { value: result?.value };
      },
    }),
    execute: async (input, call) => {
      const toolCallId = call?.callId ?? name;
      const abort = call?.signal ? { abortSignal: call.signal } : {};
      const output = await lastOf(execute.call(tool, input, { toolCallId, messages: [], context: {}, ...abort }));
      if (!toModelOutput) return output as string;
      return fromModelOutput(name, await toModelOutput.call(tool, { toolCallId, input, output }));
    },
  };
}

/** Returns the problems that a schema library found, by field when its error says so. */
function issuesOf(error: Error): { message: string; path?: readonly unknown[] }[] {
  const found = "issues" in error ? error.issues : error.cause;
  return Array.isArray(found) && found.length > 0 ? found : [{ message: error.message }];
}

async function lastOf(result: unknown): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  for await (const value of result) last = value;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function fromModelOutput(name: string, output: ModelOutput): string {
  switch (output.type) {
    case "text":
      return output.value;
    case "json":
      return JSON.stringify(output.value);
    case "error-text":
      throw new Error(output.value);
    case "error-json":
      throw new Error(JSON.stringify(output.value));
    case "execution-denied": {
      const message = output.reason ?? "the tool denied this call";
      throw new ToolError({
        code: "permission_denied",
        toolName: name,
        message,
        recoverable: false,
      });
    }
    case "content": {
      const texts = output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return toolOutput(texts.join("\n"), { content: output.value.flatMap(toBlock) });
    }
    default: {
      const unknown: never = output;
      return JSON.stringify(unknown);
    }
  }
}

function toBlock(part: Extract<ModelOutput, { type: "content" }>["value"][number]): ContentBlock[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type !== "file" || part.data.type !== "data" || typeof part.data.data !== "string") return [];
  const { data } = part.data;
  return part.mediaType.startsWith("image/") ? [{ type: "image", data, mimeType: part.mediaType }] : [];
}

function invalid(name: string, problem: string): ToolError {
  const message = `The AI SDK tool ${name} cannot be used in a registry: ${problem}`;
  return new ToolError({ code: "invalid_tool", toolName: name, message, details: { problem } });
}
