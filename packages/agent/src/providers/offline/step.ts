import type { AssistantMessage, ToolMessage } from "../../messages.ts";

export interface OfflineCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** One reply of the stand-in: an answer, `failed` where what was asked did not work, or calls of tools. */
export type OfflineStep =
  | { readonly text: string; readonly failed?: boolean }
  | { readonly calls: readonly OfflineCall[] };

/** What has happened since the user's last message. */
export interface Progress {
  readonly replies: readonly AssistantMessage[];
  readonly results: readonly ToolMessage[];
  readonly isEnabled: (tool: string) => boolean;
}

/** Says which tool is missing and how to get it. */
export function missingTool(name: string): string {
  return `I need the tool ${name}, which is not enabled. Enable it and ask again.`;
}

/** The lines of a tool's output without notices and blanks. */
export function linesOf(output: string): string[] {
  return output.split("\n").filter((line) => line !== "" && !isNotice(line) && line !== "(empty directory)");
}

/** Whether a line announces a cut. */
export function isNotice(line: string): boolean {
  return line.startsWith("[truncated: ");
}

/** What the notice at the end of a tool's output says was left out; undefined where nothing was. */
export function noticeOf(output: string): string | undefined {
  const line = output
    .slice(output.lastIndexOf("\n\n") + 1)
    .split("\n")
    .find(isNotice);
  return line?.replace(/^\[truncated: |(?:; pass .*)?\]$/g, "");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
