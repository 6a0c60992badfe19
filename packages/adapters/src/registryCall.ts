import type { ChatTool, ContentBlock, ExecuteOptions, ToolError, ToolOutcome, ToolRegistry } from "@toolcrib/core";

/** What an adapter needs of a ToolRegistry: its shape, so that a registry of another installed copy of core fits too. */
export interface ToolSource extends Pick<ToolRegistry, "getEnabledSchemas" | "hasTool" | "isToolEnabled" | "execute"> {
  clone(): Pick<ToolRegistry, "getToolNames" | "enable" | "getEnabledSchemas">;
}

/** What holds for every call that a loop makes through an adapter. Anything finer is middleware of the registry. */
export type AdapterOptions = Pick<ExecuteOptions, "labels" | "timeoutMs">;

/** For loops where the caller runs the calls: the signal ends them. */
export type RunOptions = AdapterOptions & Pick<ExecuteOptions, "signal">;

export type ImageBlock = Extract<ContentBlock, { type: "image" }>;

/** How a call ended, as loops want to hear it: `text` is what the registry's `execute` answers, success or not. */
export interface ToolAnswer {
  readonly text: string;
  /** Rich output beside the text. */
  readonly images: readonly ImageBlock[];
  /** Set where the call failed. */
  readonly error: ToolError | undefined;
}

/** Runs one call through the registry. Never rejects. */
export async function callTool(
  registry: ToolSource,
  name: string,
  args: unknown,
  options: RunOptions & Pick<ExecuteOptions, "callId">,
): Promise<ToolAnswer> {
  const { labels, timeoutMs, signal, callId } = options;
  const outcomes: ToolOutcome[] = [];
  const onOutcome = (outcome: ToolOutcome): void => void outcomes.push(outcome);
  const text = await registry.execute(name, args, { labels, timeoutMs, signal, callId, onOutcome });
  const [outcome] = outcomes;
  const images = outcome?.content?.filter((block) => block.type === "image") ?? [];
  return { text, images, error: outcome?.ok === false ? outcome.error : undefined };
}

/** The value of arguments that come as JSON text: none means `{}`; text that is no JSON is left for the registry to refuse. */
export function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The schemas of all tools, enabled or not, in registration order. */
export function everySchema(registry: ToolSource): ChatTool[] {
  const copy = registry.clone();
  for (const name of copy.getToolNames()) copy.enable(name);
  return copy.getEnabledSchemas();
}
