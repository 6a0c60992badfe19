import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResourceResource } from "@agentclientprotocol/sdk";
import type { ImageBlock, TextBlock } from "@toolcrib/agent";
import { attempt, showLine } from "@toolcrib/core/internal";
import { invalidParams } from "./errors.ts";

/** The types of pictures that models take. */
const pictures: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Converts a prompt of a client to a message of the user. Throws for content that was not announced. */
export function toUserContent(prompt: readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  return prompt.map(toUserBlock);
}

function toUserBlock(block: ContentBlock): TextBlock | ImageBlock {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return image(block.data, block.mimeType);
    case "resource_link":
      return text(`[${showLine(block.title ?? block.name)}](${nameOf(block.uri)})`);
    case "resource":
      return toBlock(block.resource);
    case "audio":
      throw invalidParams("This agent accepts no audio; send text, pictures or files.");
  }
}

/** Returns the text of a prompt alone. */
export function textOfPrompt(prompt: readonly ContentBlock[]): string {
  return prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function toBlock(resource: EmbeddedResourceResource): TextBlock | ImageBlock {
  const name = nameOf(resource.uri);
  if ("text" in resource) return text(`${name}:\n${fenced(resource.text)}`);
  const { blob, mimeType } = resource;
  if (mimeType && pictures.has(mimeType)) return image(blob, mimeType);
  return text(`${name} (${showLine(mimeType ?? "binary")}, attached; it cannot be shown here)`);
}

function text(content: string): TextBlock {
  return { type: "text", text: content };
}

function image(data: string, mimeType: string): ImageBlock {
  if (pictures.has(mimeType)) return { type: "image", data, mimeType };
  throw invalidParams(`A picture of the type ${showLine(mimeType)} cannot be read; send PNG, JPEG, GIF or WebP.`);
}

/** Returns a file by its path, which tools take; anything else by its address. */
function nameOf(uri: string): string {
  const { protocol, host, pathname, hash } = URL.parse(uri) ?? {};
  const path = protocol === "file:" ? attempt(() => fileURLToPath(`file://${host}${pathname}`)) : undefined;
  // `#L10:20`: so editors mark a selection.
  const lines = /^#L\d/.test(hash ?? "") ? ` ${hash}` : "";
  return showLine(path === undefined ? uri : path + lines);
}

/** Puts text into a block of code that its content cannot end. */
export function fenced(content: string): string {
  let longest = 2;
  for (const [run] of content.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${content}${content.endsWith("\n") ? "" : "\n"}${fence}`;
}
