import { type ExecFileOptions, execFile } from "node:child_process";

/** Node's flag for a program that imports the packages of the workspace: they resolve to their sources. */
export const importSources: readonly string[] = [
  "--import",
  new URL("../../packages/mcp/fixtures/sources.mjs", import.meta.url).href,
];

/** The end of a program, and its output. `code` is undefined if a signal ended it, or it did not start. */
export interface ProgramRun {
  readonly code: number | undefined;
  readonly out: string;
  readonly errors: string;
}

export function runProgram(file: string, args: readonly string[], options: ExecFileOptions): Promise<ProgramRun> {
  return new Promise((resolve) => {
    execFile(file, args, { ...options, encoding: "utf8" }, (error, out, errors) => {
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === "number" ? code : undefined, out, errors });
    });
  });
}

/** Returns the output that an example claims: the comment behind each call of console.log, or on the line below it. */
export function printedByComments(code: string): string {
  const calls = [...code.matchAll(/^console\.log\(.*\);(?: \/\/ (.*)|\n\/\/ (.*))?$/gm)];
  return calls.map(([, beside, below]) => `${beside ?? below}\n`).join("");
}

/** A fenced block of a Markdown file. `line` is that of its opening fence, from 1. */
export interface Example {
  readonly language: string;
  readonly title: string | undefined;
  readonly code: string;
  readonly line: number;
}

/** The fenced blocks of a Markdown text, in order. */
export function readExamples(markdown: string): Example[] {
  return [...markdown.matchAll(/^```(\w+)(?: title="?([^"\s]+)"?)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    title: match[2],
    code: match[3] ?? "",
    line: markdown.slice(0, match.index).split("\n").length,
  }));
}

/** Returns whether `printed` is what a page says; `…` stands for anything. */
export function matchesText(printed: string, expected: string): boolean {
  const parts = expected.trimEnd().split("…");
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[\\s\\S]*?");
  return new RegExp(`^${pattern}$`).test(printed.trimEnd());
}
