import type { ContentBlock } from "@toolcrib/core";
import { limitBytes, truncationNotice } from "@toolcrib/core/text";

/** What of a tool's result goes into the conversation. */
export interface ToolResult {
  readonly output: string;
  readonly content?: readonly ContentBlock[];
}

const mostBlocks = 100;
/** Pictures cost no tokens by the byte, and a part of one is worth nothing: with 256 KB for text, 5 MB, as the services take. */
const mediaFactor = 20;

/**
 * A result that no tool can make larger than this: its text within `limit` bytes, the text blocks of its rich content
 * together too, pictures and sound within twenty times as much, whole or left out, and at most 100 blocks.
 */
export function boundedResult({ output, content }: ToolResult, limit: number): ToolResult {
  const text = limitBytes(output, limit);
  return content && content.length > 0 ? { output: text, content: boundedBlocks(content, limit) } : { output: text };
}

function boundedBlocks(content: readonly ContentBlock[], limit: number): readonly ContentBlock[] {
  const kept: ContentBlock[] = [];
  let [textLeft, mediaLeft] = [limit, limit * mediaFactor];
  for (const block of content.slice(0, limit === Number.POSITIVE_INFINITY ? undefined : mostBlocks)) {
    // Only what the type names is kept: a mounted server may add fields of any size.
    if (block.type === "text") {
      if (textLeft <= 0) continue;
      kept.push({ type: "text", text: limitBytes(block.text, textLeft) });
      textLeft -= Buffer.byteLength(block.text);
    } else {
      const { type, data, mimeType } = block;
      if (!(data?.length + mimeType?.length <= mediaLeft)) continue;
      kept.push({ type, data, mimeType });
      mediaLeft -= data.length + mimeType.length;
    }
  }
  if (kept.length === content.length) return kept;
  const notice = truncationNotice({ shown: kept.length, total: content.length, unit: "blocks" });
  return [...kept, { type: "text", text: notice }];
}
