import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sharedFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSearchTextTool } from "./searchText.ts";

const hasRipgrep = spawnSync("rg", ["--version"]).status === 0;
const rgFlags = [
  "-n",
  "--hidden",
  ...["-g", "!.git"],
  "--no-require-git",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--no-ignore-dot",
  // `$` matches before CRLF, as it does here.
  "--crlf",
];

const name = fc.constantFrom("a", "b.js", "c.log", ".h", "d e", "ü", "sub");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const rule = fc.constantFrom("a", "*.log", "!c.log", "/sub", "b.js/", ".h", "**/ü", "d\\ e");
const word = fc.constantFrom(
  "foo",
  "Foo",
  "bar",
  "x",
  "é",
  "日本",
  " ",
  "  ",
  "(",
  ".",
  "foobar",
  "1",
  "42",
  "\t",
  "ſ",
  "K",
);
const line = fc.array(word, { maxLength: 6 }).map((parts) => parts.join(""));
const contentOf = (...kinds: string[]) =>
  fc
    .record({
      lines: fc.array(line, { maxLength: 12 }),
      ending: fc.constantFrom("\n", "\n", "\r\n"),
      last: fc.boolean(),
      mark: fc.constantFrom("", "", "\ufeff"),
      kind: fc.constantFrom("utf8", "utf8", "utf8", "utf16", "binary", ...kinds),
    })
    .map(({ lines, ending, last, mark, kind }) => {
      const text = (kind === "utf16" ? "\ufeff" : mark) + lines.join(ending) + (last ? ending : "");
      if (kind === "utf16") return Buffer.from(text, "utf16le");
      if (kind === "binary") return Buffer.concat([Buffer.from(text), Buffer.from([0, 0xff])]);
      return Buffer.from(text, kind === "latin1" ? "latin1" : "utf8");
    });
const treeOf = (...kinds: string[]) =>
  fc.record({
    files: fc.array(fc.tuple(path, contentOf(...kinds)), { minLength: 1, maxLength: 15 }),
    ignores: fc.array(fc.tuple(path, fc.array(rule, { minLength: 1, maxLength: 3 })), { maxLength: 3 }),
  });
const literal = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
// Pieces that mean the same to both engines; `\w`, `\s` and `\b` are ASCII here and Unicode there.
const piece = fc.constantFrom(
  "foo",
  "bar",
  ".",
  "o+",
  "[fb]",
  "[^x]",
  "(foo|bar)",
  "x?",
  "\\.",
  "\\d",
  "é",
  "[a-z]{2,3}",
  "4*",
);
// `^` and `$` stand where they are written by people: `$^` is an oddity of ripgrep's CRLF mode.
const expression = fc
  .tuple(fc.constantFrom("", "^"), fc.array(piece, { minLength: 1, maxLength: 4 }), fc.constantFrom("", "$"))
  .map(([start, pieces, end]) => start + pieces.join("") + end);

describe.skipIf(!hasRipgrep)("search_text finds the lines that ripgrep finds", () => {
  const base = sharedFolder("search-rg");

  const plant = ({ files, ignores }: { files: [string, Buffer][]; ignores: [string, string[]][] }): void => {
    rmSync(base, { recursive: true, force: true });
    mkdirSync(base);
    const put = (at: string, bytes: Buffer): void => {
      try {
        mkdirSync(dirname(join(base, at)), { recursive: true });
        writeFileSync(join(base, at), bytes);
      } catch {
        // A file stands where a directory would have to be: the tree goes without.
      }
    };
    for (const [at, bytes] of files) put(at, bytes);
    for (const [at, rules] of ignores) put(join(dirname(at), ".gitignore"), Buffer.from(rules.join("\n")));
  };
  const compare = async (query: string, regex: boolean, caseSensitive: boolean): Promise<void> => {
    const args = [...rgFlags, ...(regex ? [] : ["-F"]), ...(caseSensitive ? [] : ["-i"]), "-e", query, "."];
    const rg = spawnSync("rg", args, { cwd: base, maxBuffer: 2 ** 26 });
    const lines = rg.stdout
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((one) => one.replace(/^\.\//, "").replace(/\r$/, ""));
    // Meant: ripgrep may show what comes before the NUL of a binary file; here such a file is skipped.
    const binary = lines.flatMap((one) => /^(.*): WARNING: stopped searching binary file/.exec(one)?.[1] ?? []);
    const expected = lines.filter((one) => !binary.some((file) => one.startsWith(`${file}:`)));
    const tool = createSearchTextTool({ cwd: base, maxReplyBytes: Infinity });
    const answer = String(
      await tool.execute({ query, regex, case_sensitive: caseSensitive, paths: ["."], max_results: 1e6 }),
    );
    const found = answer.startsWith("No matches for ") ? [] : answer.split("\n");
    expect(found.sort()).toEqual(expected.sort());
  };

  test("for literals", async () => {
    await fc.assert(
      fc.asyncProperty(treeOf("latin1"), literal, fc.boolean(), async (planted, query, caseSensitive) => {
        plant(planted);
        await compare(query, false, caseSensitive);
      }),
      { numRuns: 50 },
    );
  });

  test("for regular expressions", async () => {
    await fc.assert(
      // Meant: what is not UTF-8 is a character here, and matched by nothing there.
      fc.asyncProperty(treeOf(), expression, fc.boolean(), async (planted, query, caseSensitive) => {
        plant(planted);
        await compare(query, true, caseSensitive);
      }),
      { numRuns: 75 },
    );
  });
});
