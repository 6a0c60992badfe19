import { stripVTControlCharacters } from "node:util";
import type { ContentBlock, ToolCallContent } from "@agentclientprotocol/sdk";
import type { ToolMessage } from "@toolcrib/agent";
import { attempt } from "@toolcrib/core/internal";
import { isObject, withoutControls } from "@toolcrib/core/text";
import { fenced } from "./promptContent.ts";

/** The result of a call, from a running turn or from history. */
export type CallResult = Pick<ToolMessage, "output" | "isError" | "content"> & { readonly data?: unknown };

/** Returns a result as a client shows it: text as a block of code, so that none of it counts as markdown, and pictures. */
export function resultContent({ output, content = [], data }: CallResult): ToolCallContent[] {
  const pictures = content.filter((block) => block.type === "image");
  const text = readable(commandOutput(data ?? parsed(output)) ?? output);
  const shown = text === "" ? [] : [textContent(fenced(text))];
  return [...shown, ...pictures.map(({ data, mimeType }) => ofBlock({ type: "image", data, mimeType }))];
}

/** Shows the progress of a running call; of a line that was written over, what was written last. */
export function progressContent(message: string): ToolCallContent[] {
  return [textContent(fenced(readable(message.replace(/\r+(?=\n|$)/g, "").replace(/^.*\r/gm, ""))))];
}

export function textContent(text: string): ToolCallContent {
  return ofBlock({ type: "text", text });
}

/** Removes the codes of a terminal, and other characters that are not text. */
function readable(text: string): string {
  return withoutControls(stripVTControlCharacters(text));
}

/** Parses an output as data, which history does not hold: a command's output is the same as JSON text. */
function parsed(output: string): unknown {
  return attempt(() => (output.startsWith('{"stdout":') ? JSON.parse(output) : undefined));
}

/** Reads what a command printed from the data of `run_bash`, or of a tool that answers like it. */
function commandOutput(data: unknown): string | undefined {
  if (!isObject(data) || typeof data.stdout !== "string" || typeof data.stderr !== "string") return undefined;
  const { stdout, stderr, exit_code: code } = data;
  const ended = typeof code === "number" && code !== 0 ? `[exit code ${code}]` : "";
  return [stdout, stderr, ended]
    .filter((part) => part !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
    .join("");
}

function ofBlock(content: ContentBlock): ToolCallContent {
  return { type: "content", content };
}
