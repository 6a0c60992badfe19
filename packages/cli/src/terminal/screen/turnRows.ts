import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { showInvisible, withoutControls } from "@toolcrib/core/text";
import { CallsWithin, type CallWithin, callTitle, countText, errorText, resultSummary, rowOf } from "../callsWithin.ts";
import { createRenderer, lastLine, noteLines, usageText } from "../render.ts";
import type { Style } from "../style.ts";
import { hangingRows } from "./hangingRows.ts";
import type { StreamedAnswer } from "./markdown.ts";

/** The kind of finished rows: a blank row parts two kinds. */
export type Kind = "message" | "answer" | "call" | "note";

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  startedAt: number;
  last: string;
}

/** Rows one below the other, with a blank one between two kinds. */
export class SpacedRows {
  readonly rows: string[] = [];
  lastKind: Kind | "question" | undefined;

  /** Begins below rows of a kind. */
  constructor(lastKind?: Kind | "question") {
    this.lastKind = lastKind;
  }

  add(kind: Kind | "question", rows: readonly string[]): void {
    if (this.lastKind !== undefined && (this.lastKind !== kind || kind === "message")) this.rows.push("");
    this.rows.push(...rows);
    this.lastKind = kind;
  }

  take(columns: number): string[] {
    return this.rows.splice(0).flatMap((row) => hangingRows(row, columns));
  }
}

const mostMessageRows = 10;
const mostRunningWithin = 3;

/** Shows a message of the user; of a long one the first rows. */
export function messageRows(message: string, { cyan, dim }: Style): string[] {
  const rows = message.split("\n").map((row, index) => `${index === 0 ? cyan(">") : " "} ${row}`);
  const left = rows.length - mostMessageRows;
  return left > 1 ? [...rows.slice(0, mostMessageRows), dim(`  … ${left} more lines`)] : rows;
}

interface Options {
  readonly style: Style;
  answer(): StreamedAnswer;
  columns(): number;
  print(kind: Kind, rows: readonly string[]): void;
}

/** The events of one turn in rows: what is over is printed for good, what goes on stays in the rows that change. */
export class TurnRows {
  readonly #options: Options;
  readonly #printLines: ReturnType<typeof createRenderer>;
  #startedAt = Date.now();
  readonly #calls = new Map<string, Call>();
  readonly #within = new CallsWithin();
  #answer: StreamedAnswer | undefined;
  #doing = "";
  #said = "";
  #thought = "";
  #usage = "";

  constructor(options: Options) {
    this.#options = options;
    this.#printLines = createRenderer(options.style);
  }

  show(event: AgentEvent): void {
    if (event.type !== "reasoning-delta" && event.type !== "usage") this.#endWords();
    if (event.type === "text-delta") {
      this.#doing = "";
      this.#answer ??= this.#options.answer();
      this.#answer.append(event.text);
    } else if (event.type === "tool-progress") {
      const call = this.#calls.get(event.id);
      if (call) call.last = lastLine(event.progress);
    } else if (event.type === "reasoning-delta") {
      this.#doing = "thinking";
      if (event.isNote) this.#said += event.text;
      else this.#thought += event.text;
    } else if (event.type === "usage") this.#usage = usageText(event.total);
    else {
      this.#endAnswer();
      this.#doing = event.type === "step-start" ? "waiting for the model" : "";
      if (this.#within.take(event)) return;
      if (event.type === "tool-call")
        this.#calls.set(event.id, { name: event.name, args: event.args, startedAt: Date.now(), last: "" });
      else if (event.type === "tool-result") this.#endCall(event);
      else for (const { text } of this.#printLines(event)) this.#options.print("note", text.trimEnd().split("\n"));
    }
  }

  /** Returns the rows of what goes on; what is complete by now is printed before. */
  rows(columns: number, room: number): { readonly kind: Kind; readonly rows: readonly string[] }[] {
    const { style, print } = this.#options;
    const { done, open } = this.#answer?.rows(columns, room) ?? { done: [], open: [] };
    if (done.length > 0) print("answer", done);
    const calls = [...this.#calls].flatMap(([id, call]) => {
      const within = this.#within.of(id);
      const count = countText(within);
      const last = call.last ? [style.dim(truncateToWidth(showInvisible(call.last), columns - 1, "…"))] : [];
      return [
        this.#row(style.cyan("→"), call, ` · ${count && `${count}, `}${timeSince(call.startedAt, 0)}`, columns),
        ...(within.length > 0 ? this.#runningWithin(within, columns) : last),
      ];
    });
    const thought = this.#thought.trimEnd().split("\n").at(-1) ?? "";
    const thinking = thought === "" ? [] : [style.dim(truncateToWidth(showInvisible(thought), columns - 1, "…"))];
    return [
      { kind: "note", rows: thinking },
      { kind: "answer", rows: open },
      { kind: "call", rows: calls },
    ];
  }

  /** Lists what the turn has used so far, the most important first. */
  facts(): string[] {
    return [`${timeSince(this.#startedAt, 0)} · Esc stops`, this.#doing, this.#usage].filter((fact) => fact !== "");
  }

  /** Prints what there is of the answer: something else is to be printed below it. */
  pause(): void {
    const { columns, print } = this.#options;
    const rows = this.#answer?.pause(columns()) ?? [];
    if (rows.length > 0) print("answer", rows);
  }

  /** Leaves out the milliseconds that a question took: they are neither the turn's nor its calls'. */
  leaveOut(milliseconds: number): void {
    for (const call of this.#calls.values()) call.startedAt += milliseconds;
    this.#startedAt += milliseconds;
  }

  /** Prints what is left: the answer, and the calls that have no result. */
  end(): void {
    this.#endWords();
    this.#endAnswer();
    const { style, print, columns } = this.#options;
    for (const [id, call] of this.#calls) {
      const count = countText(this.#within.end(id));
      print("call", [this.#row(style.dim("→"), call, ` · ${count && `${count}, `}no result`, columns())]);
    }
    this.#calls.clear();
  }

  #runningWithin(within: readonly CallWithin[], columns: number): string[] {
    const { style } = this.#options;
    const running = within.filter(({ state }) => state === "running");
    const rows = running
      .slice(0, mostRunningWithin)
      .map((call) => truncateToWidth(rowOf(call, style), columns - 1, "…"));
    const more = running.length - rows.length;
    return more > 0 ? [...rows, style.dim(`  … ${more} more`)] : rows;
  }

  /** Prints the first rows of what the model has thought, and what it has said between calls. */
  #endWords(): void {
    const { style, print, columns } = this.#options;
    const said = [
      [this.#thought, mostThoughtRows],
      [this.#said, Number.POSITIVE_INFINITY],
    ] as const;
    this.#thought = this.#said = "";
    for (const [text, most] of said) {
      const rows = noteLines(text).flatMap((line) => wrapped(line, columns()));
      if (rows.length === 0) continue;
      this.#endAnswer();
      const more = rows.length > most ? [`  … ${rows.length - most} more`] : [];
      print("note", [...rows.slice(0, most), ...more].map(style.dim));
    }
  }

  #endAnswer(): void {
    const rows = this.#answer?.end(this.#options.columns()) ?? [];
    if (rows.length > 0) this.#options.print("answer", rows);
    this.#answer = undefined;
  }

  #endCall(event: Extract<AgentEvent, { type: "tool-result" }>): void {
    const { style, print, columns } = this.#options;
    const call = this.#calls.get(event.id) ?? { name: event.name, args: {}, startedAt: Date.now(), last: "" };
    this.#calls.delete(event.id);
    const what = event.isError ? oneLine(errorText(event), 300) : resultSummary(event);
    const mark = event.isError ? style.red("✗") : style.green("✓");
    const within = this.#within.end(event.id);
    const facts = [countText(within), ...(event.isError ? [] : [what]), timeSince(call.startedAt)].filter(Boolean);
    print("call", [
      this.#row(mark, call, ` · ${facts.join(", ")}`, columns()),
      ...(event.isError ? wrapped(what, columns()) : []),
    ]);
  }

  /** Makes one row; where it is narrow, without its end. */
  #row(mark: string, { name, args }: Call, end: string, columns: number): string {
    const { style } = this.#options;
    const shownEnd = columns < 40 ? "" : truncateToWidth(end, columns >> 1, "…");
    const title = truncateToWidth(callTitle(name, args), columns - 3 - visibleWidth(shownEnd), "…");
    const tool = title.slice(0, name.length);
    return `${mark} ${style.bold(tool)}${title.slice(tool.length)}${style.dim(shownEnd)}`;
  }
}

const mostThoughtRows = 3;

/** Wraps text of others behind a margin. */
function wrapped(text: string, columns: number): string[] {
  const line = withoutControls(text).replace(/\t/g, "    ");
  return wrapTextWithAnsi(line, Math.max(8, columns - 2)).map((row) => `  ${row}`);
}

function timeSince(start: number, digits = 1): string {
  const seconds = (Date.now() - start) / 1000;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${seconds < 10 ? seconds.toFixed(digits) : Math.floor(seconds)} s`;
}
