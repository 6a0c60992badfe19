import { oneLine } from "@toolcrib/core/internal";
import { clip, isObject, showInvisible } from "@toolcrib/core/text";
import { inOrder } from "./question.ts";

/** Returns the reason of a failed call, without the words that are for the model. */
export function errorText({ name, output }: { readonly name: string; readonly output: string }): string {
  const prefix = `Error executing ${name}: `;
  return output.startsWith(prefix) ? output.slice(prefix.length) : output;
}

/** Writes `path=src/a.ts limit=20`: one line, however long the values are. What cannot be seen is written as its code, as in a question. */
export function showArguments(args: Readonly<Record<string, unknown>>): string {
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
export function summary(output: string): string {
  const all = linesIn(output);
  const isCut = all.at(-1)?.startsWith("[truncated: ") ?? false;
  const lines = isCut ? linesIn(all.slice(0, -1).join("\n")) : all;
  const first = lines.find((line) => line.trim() !== "");
  if (lines.length <= 1 && !isCut) return oneLine(first ?? "(nothing)", 120);
  return `${lines.length} lines${isCut ? " (cut)" : ""}, first ${oneLine(first ?? "", 80)}`;
}

function linesIn(text: string): string[] {
  const body = text.trimEnd();
  return body === "" ? [] : body.split("\n");
}
