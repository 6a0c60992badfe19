import { stripVTControlCharacters } from "node:util";
import type { AgentEvent, Usage } from "@toolcrib/agent";
import type { ToolProgress } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { clip, isObject, showInvisible, withoutControls } from "@toolcrib/core/text";
import { inOrder } from "./question.ts";
import type { Style } from "./style.ts";

/** Lines of what a model has thought that are printed. */
const mostThoughts = 3;

/** A piece of text and the stream it belongs to; `tail` is a row that is shown in place on a screen until something else comes. */
export interface Printed {
  readonly to: "stdout" | "stderr" | "tail";
  readonly text: string;
}

/** Turns the events of a turn into text: the answer for stdout, everything else for stderr. Remembers whether a line is open, and what was said once. */
export function createRenderer(style: Style): (event: AgentEvent) => Printed[] {
  let open = false;
  let dropped = 0;
  let lastProblem = "";
  let said = "";
  let thought = "";
  const note = (text: string): Printed[] => {
    // On one screen, a note must not continue a line of the answer; on stdout that line simply goes on after a line break.
    const closing: Printed[] = open ? [{ to: "stdout", text: "\n" }] : [];
    open = false;
    return [...closing, { to: "stderr", text: `${text}\n` }];
  };
  const rendered = (event: AgentEvent): Printed[] => {
    switch (event.type) {
      case "text-delta":
        if (event.text === "") return [];
        open = !event.text.endsWith("\n");
        return [{ to: "stdout", text: event.text }];
      case "tool-call":
        return note(
          `${style.cyan("→")} ${style.bold(oneLine(event.name, 64))} ${style.dim(showArguments(event.args))}`,
        );
      case "tool-result":
        return note(
          event.isError
            ? `${style.red("✗")} ${style.dim(`${oneLine(event.name, 64)}:`)} ${oneLine(errorText(event), 300)}`
            : `${style.green("✓")} ${style.dim(`${oneLine(event.name, 64)}: ${summary(event.output)}`)}`,
        );
      case "tool-progress":
        return [{ to: "tail", text: lastLine(event.progress) }];
      case "retry": {
        const problem = oneLine(event.remedy?.problem ?? event.message, 200);
        const isSame = problem === lastProblem;
        lastProblem = problem;
        return note(
          style.dim(
            `${isSame ? "It failed the same way." : problem} Trying again in ${(event.delayMs / 1000).toFixed(1)} s${event.discardText ? "; ignore the text above" : ""}.`,
          ),
        );
      }
      case "steering":
        return note(style.dim(`> ${oneLine(event.text, 200)}`));
      case "compaction":
        return note(style.dim(whatWasShortened(event)));
      case "thinking-dropped": {
        // Each request says it again.
        const isNew = event.blocks > dropped;
        dropped = event.blocks;
        return isNew ? note(style.dim(`The service left out earlier thinking (${oneLine(event.reason, 64)}).`)) : [];
      }
      case "unread-call":
        return note(oneLine(event.message, 300));
      case "end":
        if (!open) return [];
        open = false;
        return [{ to: "stdout", text: "\n" }];
      case "step-start":
      case "reasoning-delta":
      case "usage":
        return [];
    }
  };
  return (event) => {
    if (event.type === "reasoning-delta") {
      if (event.isNote) said += event.text;
      else thought += event.text;
      return [];
    }
    if (event.type === "usage") return [];
    const thoughts = noteLines(thought);
    const more = thoughts.length - mostThoughts;
    const shown = more > 0 ? [...thoughts.slice(0, mostThoughts), `… ${more} more`] : thoughts;
    const lines = [...shown.map((line) => `  ${line}`), ...noteLines(said)];
    thought = said = "";
    return [...(lines.length > 0 ? note(lines.map(style.dim).join("\n")) : []), ...rendered(event)];
  };
}

function whatWasShortened(done: Extract<AgentEvent, { type: "compaction" }>): string {
  const isOnlyCut = done.summarisedMessages === 0 && done.leftOutMessages === undefined;
  return `${isOnlyCut ? "Long messages were cut" : "Older messages were shortened"} to make room.`;
}

/** Returns the reason of a failed call, without the words that are for the model. */
export function errorText({ name, output }: { readonly name: string; readonly output: string }): string {
  const prefix = `Error executing ${name}: `;
  return output.startsWith(prefix) ? output.slice(prefix.length) : output;
}

/** Returns the lines of what the model says between calls. */
export function noteLines(text: string): string[] {
  return text.trim() === "" ? [] : withoutControls(text.trim()).split("\n");
}

/** Returns the last line of what a running tool reports, behind a margin; of a line that was written over, what was written last. */
export function lastLine({ message = "" }: ToolProgress): string {
  const line = stripVTControlCharacters(message)
    .split(/[\r\n]/)
    .findLast((one) => one.trim() !== "");
  return line === undefined ? "" : `  ${line.trimEnd()}`;
}

/** Writes `path=src/a.ts limit=20`: one line, however long the values are. What cannot be seen is written as its code, as in a question. */
function showArguments(args: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(args).map(([name, value]) => `${name}=${showValue(value)}`);
  return oneLine(showInvisible(clip(shown.join(" "), 640)), 160);
}

function showValue(value: unknown): string {
  const plain = typeof value === "string" && /^[^\s"'=]+$/.test(value);
  return clip(plain ? value : (JSON.stringify(value) ?? String(value)), 80);
}

/** Writes `edit_file src/a.ts`: the tool and what it reaches, then its short arguments by name. */
export function callTitle(name: string, args: Readonly<Record<string, unknown>>): string {
  const [first, ...others] = inOrder(args).map(([key, value]) => ({ key, shown: showValue(value) }));
  const isShort = ({ shown }: { shown: string }): boolean => shown.length <= 24;
  const rest = others.filter(isShort).map(({ key, shown }) => `${key}=${shown}`);
  return oneLine(showInvisible(clip([name, first?.shown ?? "", ...rest].join(" "), 640)), 200);
}

/** Summarizes the result of a call: how its command ended, or how many lines, or the only one. */
export function resultSummary({ output, data }: { readonly output: string; readonly data?: unknown }): string {
  const { exit_code: code, stdout } = isObject(data) ? data : {};
  const count = linesIn(typeof stdout === "string" ? stdout : output).length;
  if (typeof code === "number") return `exit ${code}${count > 0 ? `, ${count} ${count === 1 ? "line" : "lines"}` : ""}`;
  return count <= 1 ? oneLine(output, 120) || "nothing" : `${count} lines`;
}

/** Returns the text of a one-line result; else how many lines, whether cut, and the first. */
function summary(output: string): string {
  const all = linesIn(output);
  const isCut = all.at(-1)?.startsWith("[truncated: ") ?? false;
  const lines = isCut ? linesIn(all.slice(0, -1).join("\n")) : all;
  const first = lines.find((line) => line.trim() !== "");
  if (lines.length <= 1 && !isCut) return oneLine(first ?? "(nothing)", 120);
  return `${lines.length} lines${isCut ? " (cut)" : ""}, first ${oneLine(first ?? "", 80)}`;
}

/** Returns the lines of a text, without blank ones at its end. */
function linesIn(text: string): string[] {
  const body = text.trimEnd();
  return body === "" ? [] : body.split("\n");
}

/** Writes `1,234 tokens · $0.0012`; empty before there were any. */
export function usageText({
  inputTokens,
  outputTokens,
  cost = 0,
}: Pick<Usage, "inputTokens" | "outputTokens" | "cost">): string {
  const tokens = inputTokens + outputTokens;
  if (tokens === 0) return "";
  return `${tokens.toLocaleString("en-US")} tokens${cost > 0 ? ` · $${cost.toFixed(4)}` : ""}`;
}
