import type { FunctionCall, FunctionDeclaration, FunctionResponsePart, Part } from "@google/genai";
import { definitionsFor } from "@toolcrib/core/internal";
import {
  callTool,
  enabledSchemas,
  geminiPictureTypes,
  type RunOptions,
  type ToolAnswer,
  type ToolSource,
  withPictures,
} from "./registryCall.ts";

interface Response {
  response: Record<string, unknown>;
  parts?: FunctionResponsePart[];
}

/**
 * Returns the enabled tools as one Gemini tool, for `config: { tools: [toGeminiTool(registry)] }`. Call it before each request, so that
 * the list follows the registry. Throws a ToolError (`invalid_tool`) for a tool whose name Gemini does not take; a mounted one is left out.
 */
export function toGeminiTool(registry: ToolSource): { functionDeclarations: FunctionDeclaration[] } {
  const definitions = definitionsFor(enabledSchemas(registry), "gemini", registry);
  const functionDeclarations = definitions.map(({ name, description, parameters }) => ({
    name,
    description,
    // The service refuses an object without properties.
    ...(parameters.properties !== undefined && { parametersJsonSchema: parameters }),
  }));
  return { functionDeclarations };
}

/**
 * Runs `response.functionCalls` one after the other and returns the parts of the next user turn; `[]` when there are no calls.
 * A success is under `output`, a failure under `error`, images beside it as inline data.
 */
export async function runGeminiFunctionCalls(
  registry: ToolSource,
  calls: readonly FunctionCall[] | undefined,
  options: RunOptions = {},
): Promise<Part[]> {
  const parts: Part[] = [];
  for (const { id, name = "", args } of calls ?? []) {
    const answer = withPictures(await callTool(registry, name, args, { ...options, callId: id }), geminiPictureTypes);
    parts.push({ functionResponse: { ...(id === undefined ? {} : { id }), name, ...toResponse(answer) } });
  }
  return parts;
}

function toResponse({ text, images, error }: ToolAnswer): Response {
  const response = error ? { error: text } : { output: text };
  const parts = images.map(({ data, mimeType }) => ({ inlineData: { data, mimeType } }));
  return parts.length === 0 ? { response } : { response, parts };
}
