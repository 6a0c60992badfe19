import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createMatcher, scanText } from "../../../packages/tools-search/src/engine/matchLines.ts";
import { needsLineBreak } from "../../../packages/tools-search/src/engine/requiredLiterals.ts";
import { readExpression } from "../../../packages/tools-search/src/expression/readExpression.ts";
import { suiteSeed } from "../random.ts";
import { ripgrepProgram } from "./ripgrepProgram.ts";

/**
 * Expressions of programs in JavaScript and Python, and of what grep, ripgrep and PCRE document, over lines of ASCII: ours finds the lines
 * that ripgrep finds (with -P where it refuses one without), or refuses the expression in words. A tenth of them by default.
 */
const [lines, list] = ["lines.txt", "expressions.txt"].map((name) => fileURLToPath(new URL(name, import.meta.url)));
const text = readFileSync(lines as string, "utf8");
const step = Math.max(1, Math.round(10 / (Number(process.env.TOOLCRIB_ROUNDS) || 1)));
const offset = suiteSeed % step;
const all = readFileSync(list as string, "utf8")
  .split("\n")
  .slice(0, -1);
const expressions = all.filter((_, at) => at % step === offset);
const rg = ripgrepProgram();

/** The numbers of the lines that ripgrep finds; undefined for an expression that it refuses in both ways. */
function askRipgrep(expression: string, caseSensitive: boolean): number[] | undefined {
  for (const engine of [[], ["-P"]]) {
    // With -i its own engine takes [[:upper:]] for all letters, and PCRE for capitals: we do as the first.
    if (engine.length > 0 && !caseSensitive && /\[:(?:upper|lower):\]/.test(expression)) return undefined;
    const flags = ["--no-config", "-n", "--no-filename", ...engine, ...(caseSensitive ? [] : ["-i"])];
    const { status, stdout } = spawnSync(rg, [...flags, "-e", expression, lines as string], { encoding: "utf8" });
    if (status === 0 || status === 1) return [...stdout.matchAll(/^\d+/gm)].map(([number]) => Number(number));
  }
  return undefined;
}

/** The same of ours; the words in which an expression is refused. */
function askOurs(expression: string, caseSensitive: boolean): number[] | string {
  try {
    const { source, ignoresCase } = readExpression(expression, caseSensitive);
    if (needsLineBreak(source)) return "a line never contains a line break";
    const matcher = createMatcher({ text: source, regex: true, caseSensitive: caseSensitive && !ignoresCase });
    const [ascii, unicode] = (["ascii", "unicode"] as const).map((kind) => {
      const found: number[] = [];
      scanText(text, matcher.expressions[kind], (line) => found.push(line) > 0);
      return found;
    });
    // Whatever the text, and whatever was decided without decoding it.
    const mayMatch = matcher.couldMatch(Buffer.from(text)) || ascii?.length === 0;
    return mayMatch && ascii?.join() === unicode?.join() ? (ascii as number[]) : [-1];
  } catch (error) {
    return (error as Error).message;
  }
}

test(`${expressions.length} of ${all.length} expressions, from ${offset}, mean what they mean to ripgrep 15 or are refused in words`, () => {
  const counts = { same: 0, refused: 0, onlyOurs: 0 };
  for (const [at, expression] of expressions.entries()) {
    for (const caseSensitive of at % 5 === 0 ? [true, false] : [true]) {
      const theirs = askRipgrep(expression, caseSensitive);
      const ours = askOurs(expression, caseSensitive);
      if (typeof ours === "string") {
        expect(ours, expression).toMatch(/^Invalid arguments: query: .+; .+|line break/);
        counts.refused += 1;
      } else if (theirs === undefined) {
        counts.onlyOurs += 1;
      } else {
        expect(ours, JSON.stringify({ expression, caseSensitive })).toEqual(theirs);
        counts.same += 1;
      }
    }
  }
  console.log(`expressions: ${JSON.stringify(counts)}`);
  expect(counts.same).toBeGreaterThan(expressions.length * 0.7);
});
