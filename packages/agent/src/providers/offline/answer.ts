import type { ToolMessage } from "../../messages.ts";
import type { OfflineRequest } from "./request.ts";

export interface OfflineCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** `failed` where what was asked did not work. */
export interface OfflineAnswer {
  readonly text: string;
  readonly failed?: boolean;
}

/** A script that answers one request: it yields calls of tools, is given their results, and returns the answer. */
export type Script<Result = OfflineAnswer> = Generator<readonly OfflineCall[], Result, readonly ToolMessage[]>;

export type IsEnabled = (tool: string) => boolean;

/** Stands for a result that is missing, which does not happen. */
export const noResult = { output: "", isError: true };

type OneCall = Exclude<OfflineRequest, { kind: "help" | "survey" }>;

/** Words the number of something that the output has, or has at least. */
type Count = (one: string, many?: string) => string;

const mostLines = 200;

/** Yields the script for a request that one call answers. */
export function* answer(request: OneCall, isEnabled: IsEnabled): Script {
  const { title, ...call } = planFor(request);
  if (!isEnabled(call.name)) return { text: missingTool(call.name), failed: true };
  const refusal = request.kind === "write" ? yield* refusalToWrite(request.path, isEnabled) : undefined;
  if (refusal !== undefined) return { text: refusal, failed: true };
  const [{ output, isError } = noResult] = yield [call];
  if (isError) return { text: `That did not work: ${output}`, failed: true };
  if (!title || isEmpty(output)) return { text: output };
  const { length } = linesOf(output.split("\n\n", 1)[0] ?? "");
  const isCut = noticeOf(output) !== undefined;
  const counted = title((one, many) => `${isCut ? "at least " : ""}${plural(length, one, many)}`);
  return { text: `${counted.replace(/^at least/, "At least")}:\n\n${firstLines(output)}` };
}

function planFor(request: OneCall): OfflineCall & { readonly title?: (count: Count) => string } {
  const { kind, path } = request;
  switch (kind) {
    case "list":
      return { name: "list_dir", args: { path }, title: (count) => `${path} holds ${count("entry", "entries")}` };
    case "search": {
      const title = (count: Count): string => `${count("line")} with ${JSON.stringify(request.query)} in ${path}`;
      return { name: "search_text", args: { query: request.query, paths: [path] }, title };
    }
    case "read":
      return { name: "read_file", args: { path }, title: () => path };
    case "write":
      return { name: "write_file", args: { path, content: `${request.text}\n` } };
  }
}

function firstLines(output: string): string {
  const cut = noticeOf(output);
  const lines = (cut === undefined ? output : output.slice(0, output.lastIndexOf("\n\n"))).split("\n");
  const shown = lines.slice(0, mostLines);
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`… and ${cut === undefined ? "" : "at least "}${plural(left, "more line")}`);
  if (cut !== undefined) shown.push("", `Cut at a limit: ${cut}.`);
  return shown.join("\n");
}

/** Yields why a file is not written; undefined once it is certain that there is no such file. */
export function* refusalToWrite(path: string, isEnabled: IsEnabled): Script<string | undefined> {
  const unknown = `I cannot see whether ${path} exists`;
  if (!isEnabled("list_dir")) return `${unknown}: ${missingTool("list_dir")}`;
  const [, folder = "", name = ""] = /^(.*?)([^/]+)\/*$/s.exec(path) ?? [];
  const [{ output, isError } = noResult] = yield [
    { name: "list_dir", args: { path: folder.replace(/(?<=.)\/+$/, "") || "." } },
  ];
  // A folder that is missing holds no file.
  if (isError) return missingFolder.test(output) ? undefined : `${unknown}: ${output}`;
  if (linesOf(output).some((line) => isNamed(line, name))) return `${path} exists, and I replace no file`;
  return noticeOf(output) === undefined ? undefined : unknown;
}

const missingFolder = /^Error executing list_dir: (?:ENOENT|No such file or directory)/;

/** Returns whether a line of a listing is this name. Case is ignored, as some file systems ignore it. */
function isNamed(line: string, name: string): boolean {
  const fold = (text: string): string => text.normalize("NFC").toLowerCase();
  const shown = fold(line.replace(/\/$/, ""));
  return shown === fold(name) || shown === fold(JSON.stringify(name)) || shown.startsWith(`${fold(name)} -> `);
}

export function missingTool(name: string): string {
  return `I need the tool ${name}, which is not enabled. Enable it and ask again.`;
}

/** Returns the lines of a tool's output without notices and blanks. */
export function linesOf(output: string): string[] {
  return output.split("\n").filter((line) => line !== "" && !isNotice(line) && line !== "(empty directory)");
}

/** Returns whether a search found nothing, and says so. */
export function isEmpty(output: string): boolean {
  return /^No (?:matches|files) /.test(output);
}

export function isNotice(line: string): boolean {
  return line.startsWith("[truncated: ");
}

/** Reads from the notice at the end of a tool's output what was left out; undefined without a notice. */
export function noticeOf(output: string): string | undefined {
  const end = output.slice(output.lastIndexOf("\n\n") + 1).split("\n");
  return end.find(isNotice)?.replace(/^\[truncated: |(?:; pass .*)?\]$/g, "");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
