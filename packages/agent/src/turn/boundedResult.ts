import type { ContentBlock } from "@toolcrib/core";
import { limitBytes, messageOf, truncationNotice } from "@toolcrib/core/text";
import type { ImageBlock } from "../messages.ts";
import type { Picture } from "../providers/models/pictures.ts";

interface ToolResult {
  readonly output: string;
  readonly content?: readonly ContentBlock[] | undefined;
}

const mostBlocks = 100;
/** Pictures may be larger than text, because they cost no tokens by the byte: 5 MB, which services accept, with 256 KB of text. */
const mediaFactor = 20;

interface PictureRules {
  /** Makes one smaller that is too large; rejects where it cannot be decoded. */
  fit(picture: ImageBlock): Promise<ImageBlock>;
  /** Says why one cannot join the conversation. */
  refuse(picture: Picture): string | undefined;
}

/**
 * Resolves to a result of bounded size: at most `limit` bytes of text, the same for all text blocks of its rich content together, twenty
 * times as much for pictures and sound (each whole or left out), and at most 100 blocks. A picture that is refused is left out, and the
 * output says why.
 */
export async function boundedResult(
  { output, content }: ToolResult,
  limit: number,
  pictures?: PictureRules,
): Promise<ToolResult> {
  const text = limitBytes(output, limit);
  if (!content || content.length === 0) return { output: text };
  const refused: string[] = [];
  const refuse = (why: string | undefined): boolean => {
    if (why !== undefined) refused.push(`\n[picture left out: ${why}]`);
    return why !== undefined;
  };
  const fitted = pictures ? await fitBlocks(content, pictures, refuse) : content;
  const taken = boundedBlocks(fitted, limit).filter(
    (block) => block.type !== "image" || !pictures || !refuse(pictures.refuse(block)),
  );
  // Models read the output; of the blocks they see pictures alone.
  return { output: text + refused.join(""), content: taken };
}

async function fitBlocks(
  content: readonly ContentBlock[],
  { fit }: PictureRules,
  refuse: (why: string) => void,
): Promise<readonly ContentBlock[]> {
  const fitted: ContentBlock[] = [];
  for (const [index, block] of content.entries()) {
    try {
      // Blocks beyond the limit are left out anyway.
      fitted.push(block.type === "image" && index < mostBlocks ? await fit(block) : block);
    } catch (error) {
      refuse(messageOf(error));
    }
  }
  return fitted;
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
