import { textOf } from "../../conversation/conversation.ts";
import type { Message } from "../../messages.ts";
import { beforeWriting } from "./overwriteCheck.ts";
import { type OfflineRequest, parseRequest, understood } from "./request.ts";
import { linesOf, missingTool, noticeOf, type OfflineCall, type OfflineStep, type Progress, plural } from "./step.ts";
import { nextSurveyStep } from "./survey.ts";

const mostLines = 200;

/** The next reply, computed from the conversation alone; undefined when no rule fits the user's last message. */
export function nextStep(messages: readonly Message[], enabled: readonly string[]): OfflineStep | undefined {
  const start = messages.findLastIndex((message) => message.role === "user");
  const user = messages[start];
  const request = parseRequest(user?.role === "user" ? textOf(user) : "");
  if (!request) return undefined;
  const since = messages.slice(start + 1);
  const progress = {
    replies: since.filter((message) => message.role === "assistant"),
    results: since.filter((message) => message.role === "tool"),
    isEnabled: (tool: string) => enabled.includes(tool),
  };
  if (request.kind === "help") return { text: helpText() };
  return request.kind === "survey" ? nextSurveyStep(request, progress) : oneCall(request, progress);
}

function helpText(): string {
  const lines = understood.map((line) => `- ${line}`);
  return `I am the offline stand-in: a few rules, not a language model. I understand:\n\n${lines.join("\n")}`;
}

type SimpleRequest = Exclude<OfflineRequest, { kind: "help" | "survey" }>;

/** A request that one call answers. */
function oneCall(request: SimpleRequest, progress: Progress): OfflineStep {
  const call = callFor(request);
  if (!progress.isEnabled(call.name)) return { text: missingTool(call.name), failed: true };
  const before = request.kind === "write" && !request.overwrite ? beforeWriting(request.path, progress) : undefined;
  if (before) return before;
  const result = progress.results.findLast(({ name }) => name === call.name);
  if (!result) return { calls: [call] };
  if (result.isError) return { text: `That did not work: ${result.output}`, failed: true };
  return { text: answerFor(request, result.output) };
}

function callFor(request: SimpleRequest): OfflineCall {
  switch (request.kind) {
    case "list":
      return { name: "list_dir", args: { path: request.path } };
    case "search":
      return { name: "search_text", args: { query: request.query, paths: [request.path] } };
    case "files":
      return { name: "search_files", args: { pattern: request.pattern, cwd: request.path } };
    case "read":
      return { name: "read_file", args: { path: request.path } };
    case "write":
      return { name: "write_file", args: { path: request.path, content: `${request.text}\n` } };
  }
}

function answerFor(request: SimpleRequest, output: string): string {
  if (request.kind === "write" || output.startsWith("No ")) return output;
  return `${titleFor(request, output)}:\n\n${firstLines(output)}`;
}

function titleFor(request: Exclude<SimpleRequest, { kind: "write" }>, output: string): string {
  const [body = ""] = output.split("\n\n", 1);
  const counted = (one: string, many?: string): string => plural(linesOf(body).length, one, many);
  const atLeast = noticeOf(output) === undefined ? "" : "at least ";
  switch (request.kind) {
    case "list":
      return `${request.path} holds ${atLeast}${counted("entry", "entries")}`;
    case "search":
      return `${capital(atLeast)}${counted("line")} with ${JSON.stringify(request.query)} in ${request.path}`;
    case "files":
      return `${capital(atLeast)}${counted("file")} for ${request.pattern}`;
    case "read":
      return request.path;
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
