import { stripVTControlCharacters } from "node:util";
import type { AgentEvent, Usage } from "@toolcrib/agent";
import type { ToolProgress } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import { CallsWithin, type CallWithin, countText, errorText, rowOf, showArguments, summary } from "./callsWithin.ts";
import type { Style } from "./style.ts";

const mostThoughts = 3;
/** Calls of one program that are printed: the first ones, as they end. */
const mostPrinted = 10;

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
  let within: CallsWithin | undefined;
  const printed = new Set<CallWithin>();
  const note = (text: string): Printed[] => {
    // On one screen, a note must not continue a line of the answer; on stdout that line simply goes on after a line break.
    const closing: Printed[] = open ? [{ to: "stdout", text: "\n" }] : [];
    open = false;
    return [...closing, { to: "stderr", text: `${text}\n` }];
  };
  const moreWithin = (id: string): string => {
    const more = countText(within?.end(id).filter((one) => !printed.delete(one)) ?? []);
    return more === "" ? "" : `${style.dim(`  … and ${more}`)}\n`;
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
        return note(`${moreWithin(event.id)}${resultRow(event, style)}`);
      case "tool-progress":
        return [{ to: "tail", text: lastLine(event.progress) }];
      case "retry": {
        const problem = oneLine(event.remedy?.problem ?? event.message, 200);
        const words = problem === lastProblem ? "It failed the same way." : problem;
        lastProblem = problem;
        return note(style.dim(`${words} ${whatFollows(event)}`));
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
    if ("within" in event && event.within !== undefined) {
      within ??= new CallsWithin();
      const [call] = within.take(event) ?? [];
      const isFull = within.of(event.within).filter((one) => printed.has(one)).length >= mostPrinted;
      if (!call || call.state === "running" || isFull) return [];
      printed.add(call);
      return note(rowOf(call, style));
    }
    const lines = [...firstThoughts(thought), ...noteLines(said)];
    thought = said = "";
    return [...(lines.length > 0 ? note(lines.map(style.dim).join("\n")) : []), ...rendered(event)];
  };
}

function resultRow(event: Extract<AgentEvent, { type: "tool-result" }>, { dim, green, red }: Style): string {
  const name = oneLine(event.name, 64);
  return event.isError
    ? `${red("✗")} ${dim(`${name}:`)} ${oneLine(errorText(event), 300)}`
    : `${green("✓")} ${dim(`${name}: ${summary(event.output)}`)}`;
}

function firstThoughts(thought: string): string[] {
  const lines = noteLines(thought);
  const more = lines.length - mostThoughts;
  return [...lines.slice(0, mostThoughts), ...(more > 0 ? [`… ${more} more`] : [])].map((line) => `  ${line}`);
}

function whatFollows({ delayMs, discardText }: Extract<AgentEvent, { type: "retry" }>): string {
  return `Trying again in ${(delayMs / 1000).toFixed(1)} s${discardText ? "; ignore the text above" : ""}.`;
}

function whatWasShortened(done: Extract<AgentEvent, { type: "compaction" }>): string {
  const isOnlyCut = done.summarisedMessages === 0 && done.leftOutMessages === undefined;
  return `${isOnlyCut ? "Long messages were cut" : "Older messages were shortened"} to make room.`;
}

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
