import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { compileIgnoreRules } from "../../../packages/tools-search/src/engine/ignoreRules.ts";
import { DirectoryLister } from "../../../packages/tools-search/src/engine/listDirectory.ts";
import { walkFiles } from "../../../packages/tools-search/src/engine/walkBatches.ts";
import { createSearchTextTool } from "../../../packages/tools-search/src/searchText.ts";
import { temporaryFolder } from "../../src/temporaryFolder.ts";

/** Cases, and what git and ripgrep answered. */
export interface Peers {
  readonly versions: readonly string[];
  readonly rules: readonly Rules[];
  readonly trees: readonly Tree[];
}
export interface Rules {
  readonly rules: string;
  readonly asked: readonly string[];
  readonly ignored?: readonly string[];
}
export interface Tree {
  /** Each character of a content is a byte. */
  readonly files: readonly (readonly [path: string, content: string])[];
  readonly listed?: readonly string[];
  readonly searches: readonly Search[];
}
export type Search = readonly [query: string, regex: boolean, caseSensitive: boolean, lines?: readonly string[]];

export function isIgnored(text: string, path: string): boolean {
  const rules = compileIgnoreRules(text);
  const parts = path.replace(/\/$/, "").split("/");
  // As a walk does it: what is in an ignored directory is never asked about.
  return parts.some((part, at) => {
    const folder = parts.slice(0, at).map((one) => `${one}/`);
    return rules?.decide(part, folder.join(""), at < parts.length - 1 || path.endsWith("/")) === true;
  });
}

export function compareRules({ rules, asked, ignored }: Rules): void {
  expect(asked.filter((path) => isIgnored(rules, path)).sort(), JSON.stringify(rules)).toEqual(ignored);
}

export async function compareTree({ files, listed, searches }: Tree): Promise<void> {
  const base = temporaryFolder("peers");
  for (const [path, content] of files) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), content, "latin1");
  }
  const walk = (after = ""): string[] => {
    const onUnreadable = (path: string, error: unknown) => expect.fail(`${path}: ${String(error)}`);
    const options = { onUnreadable, after, enters: () => true, onLeftOut: () => undefined };
    return [...walkFiles(new DirectoryLister(undefined), base, options)].flat();
  };
  const walked = walk();
  expect(walked.toSorted()).toEqual(listed);
  // It goes on behind any path as from the start.
  const middle = walked.length >> 1;
  if (walked.length > 1) expect(walk(walked[middle])).toEqual(walked.slice(middle + 1));
  const tool = createSearchTextTool({ cwd: base, maxReplyBytes: Infinity });
  for (const [query, regex, case_sensitive, lines] of searches) {
    const answer = String(await tool.execute({ query, regex, case_sensitive, paths: ["."], max_results: 1e6 }));
    const found = answer.startsWith("No matches for ") ? [] : answer.split("\n");
    expect(found.sort(), JSON.stringify({ query, regex, case_sensitive, files })).toEqual(lines);
  }
}
