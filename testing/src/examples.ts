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

/** Whether `printed` is what a page says; `…` stands for anything. */
export function matchesText(printed: string, expected: string): boolean {
  const parts = expected.trimEnd().split("…");
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[\\s\\S]*?");
  return new RegExp(`^${pattern}$`).test(printed.trimEnd());
}
