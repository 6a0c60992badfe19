import type { ContentBlock } from "@toolcrib/core";
import { limitBytes, truncationNotice } from "@toolcrib/core/text";
import type { Picture } from "../providers/models/pictures.ts";

/** What of a tool's result goes into the conversation. */
interface ToolResult {
  readonly output: string;
  readonly content?: readonly ContentBlock[] | undefined;
}

const mostBlocks = 100;
/** Pictures may be larger than text, because they cost no tokens by the byte: 5 MB, which services accept, with 256 KB of text. */
const mediaFactor = 20;

/**
 * Returns a result of bounded size: at most `limit` bytes of text, the same for all text blocks of its rich content together, twenty
 * times as much for pictures and sound (each whole or left out), and at most 100 blocks. A picture for which `whyNot` gives a reason is
 * left out, and the output says why.
 */
export function boundedResult(
  { output, content }: ToolResult,
  limit: number,
  whyNot: (picture: Picture) => string | undefined = () => undefined,
): ToolResult {
  const text = limitBytes(output, limit);
  if (!content || content.length === 0) return { output: text };
  const refused: string[] = [];
  const taken = boundedBlocks(content, limit).filter((block) => {
    const why = block.type === "image" ? whyNot(block) : undefined;
    if (why !== undefined) refused.push(`\n[picture left out: ${why}]`);
    return why === undefined;
  });
  // Models read the output; of the blocks they see pictures alone.
  return { output: text + refused.join(""), content: taken };
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
