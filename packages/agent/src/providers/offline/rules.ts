import { textOf } from "../../conversation/conversation.ts";
import type { Message } from "../../messages.ts";
import { type OfflineRequest, parseRequest, understood } from "./request.ts";
import { linesOf, missingTool, noticeOf, type OfflineCall, type OfflineStep, type Progress, plural } from "./step.ts";
import { nextSurveyStep } from "./survey.ts";
import { beforeWriting } from "./target.ts";

const mostLines = 200;

/** The next reply, computed from the conversation alone; undefined when no rule fits the user's last message. */
export function nextStep(messages: readonly Message[], enabled: readonly string[]): OfflineStep | undefined {
  const start = messages.findLastIndex((message) => message.role === "user");
  const user = messages[start];
  const request = parseRequest(user?.role === "user" ? textOf(user) : "");
  if (!request) return undefined;
  const since = messages.slice(start + 1);
  return stepFor(request, {
    replies: since.filter((message) => message.role === "assistant"),
    results: since.filter((message) => message.role === "tool"),
    isEnabled: (tool) => enabled.includes(tool),
  });
}

function stepFor(request: OfflineRequest, progress: Progress): OfflineStep {
  switch (request.kind) {
    case "help":
      return { text: helpText() };
    case "survey":
      return nextSurveyStep(request, progress);
    case "write": {
      const before = request.overwrite ? undefined : beforeWriting(request.path, progress);
      if (before && progress.isEnabled("write_file")) return before;
      const results = progress.results.filter(({ name }) => name === "write_file");
      return oneCall(callFor(request), { ...progress, results }, (output) => output);
    }
    default:
      return oneCall(callFor(request), progress, (output) => answerFor(request, output));
  }
}

function helpText(): string {
  const lines = understood.map((line) => `- ${line}`);
  return `I am the offline stand-in: a few rules, not a language model. I understand:\n\n${lines.join("\n")}`;
}

function oneCall(call: OfflineCall, { results, isEnabled }: Progress, answer: (output: string) => string): OfflineStep {
  const result = results.at(-1);
  if (result)
    return result.isError
      ? { text: `That did not work: ${result.output}`, failed: true }
      : { text: answer(result.output) };
  return isEnabled(call.name) ? { calls: [call] } : { text: missingTool(call.name), failed: true };
}

type SimpleRequest = Exclude<OfflineRequest, { kind: "help" | "survey" }>;

function callFor(request: SimpleRequest): OfflineCall {
  switch (request.kind) {
    case "list":
      return { name: "list_dir", args: { path: request.path } };
    case "search":
      return { name: "search_text", args: { query: request.query, paths: [request.path] } };
    case "files":
      return { name: "search_files", args: { pattern: request.pattern, cwd: request.path } };
    case "read":
      return { name: "read_file", args: { path: request.path, ...(request.limit && { limit: request.limit }) } };
    case "write":
      return { name: "write_file", args: { path: request.path, content: `${request.text}\n` } };
  }
}

function answerFor(request: SimpleRequest, output: string): string {
  const cut = noticeOf(output);
  const [body = ""] = output.split("\n\n", 1);
  const counted = (one: string, many?: string): string =>
    `${cut === undefined ? "" : "at least "}${plural(linesOf(body).length, one, many)}`;
  switch (request.kind) {
    case "list":
      return `${request.path} holds ${counted("entry", "entries")}:\n\n${firstLines(output)}`;
    case "search":
      return output.startsWith("No matches")
        ? output
        : `${capital(counted("line"))} with ${JSON.stringify(request.query)} in ${request.path}:\n\n${firstLines(output)}`;
    case "files":
      return output.startsWith("No ")
        ? output
        : `${capital(counted("file"))} for ${request.pattern}:\n\n${firstLines(output)}`;
    case "read":
      return `${request.path}:\n\n${firstLines(output)}`;
    case "write":
      return output;
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
