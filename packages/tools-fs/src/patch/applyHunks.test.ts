import fc from "fast-check";
import { expect, test } from "vitest";
import { applyHunks } from "./applyHunks.ts";
import { parsePatch } from "./parsePatch.ts";

const begin = "*** Begin Patch\n*** Update File: f\n";

/** The text with one part of a patch, given without its headers. */
async function apply(text: string, body: string): Promise<string> {
  const [operation] = parsePatch(`${begin}${body}\n*** End Patch`);
  if (operation?.kind !== "update") return expect.fail("no update");
  return applyHunks(text, operation.hunks, "f", () => undefined);
}

test.each([
  ["a line changes", "a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"],
  ["without @@", "a\nb\n", "-b\n+B", "a\nB\n"],
  ["a line comes", "a\nc\n", "@@\n a\n+b\n c", "a\nb\nc\n"],
  ["a line goes", "a\nb\nc\n", "@@\n a\n-b", "a\nc\n"],
  ["hunks in order", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"],
  ["after a line", "x\nf()\nx\n", "@@ f()\n-x\n+y", "x\nf()\ny\n"],
  ["after a line, however far in", "  def f():\n    x\n", "@@ def f():\n-    x\n+    y", "  def f():\n    y\n"],
  ["after a line after a line", "A\nf\nx\nB\nf\nx\n", "@@ B\n@@ f\n-x\n+y", "A\nf\nx\nB\nf\ny\n"],
  ["the first after an @@ line", "f\nx\nx\n", "@@ f\n-x\n+y", "f\ny\nx\n"],
  ["an empty line of the file", "a\n\nb\n", " a\n\n-b\n+c", "a\n\nc\n"],
  ["at the end", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"],
  ["appended", "a\n", "@@\n+b\n*** End of File", "a\nb\n"],
  ["to an empty file", "", "@@\n+b\n*** End of File", "b\n"],
  ["all goes", "a\n", "@@\n-a", ""],
  ["numbers of a unified diff are passed over", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "a\nc\n"],
  ["CRLF stays", "a\r\nb\r\nc\r\n", " a\n-b\n+B\n+B2\n c", "a\r\nB\r\nB2\r\nc\r\n"],
  ["mixed endings stay", "a\nb\r\nc\n", "-c\n+C", "a\nb\r\nC\n"],
  ["a replaced line keeps its ending", "a\r\nb\nc\r\n", "-a\n-b\n+A\n+B\n c", "A\r\nB\nc\r\n"],
  ["a line more ends as the last replaced one", "a\nb\r\nc\n", " a\n-b\n+B\n+B2\n c", "a\nB\r\nB2\r\nc\n"],
  ["a blank line that the file has", "a\n\nb\na\n", "-a\n+c\n\n@@\n-b\n+d", "c\n\nd\na\n"],
  ["a blank line that the file has not", "a\nb\n", "@@\n-a\n+c\n\n@@\n-b\n+d\n\n", "c\nd\n"],
  ["a blank line at the end", "a\n", "@@\n+b\n\n*** End of File\n", "a\nb\n"],
  ["no line ending at the end stays", "a\nb", "-b\n+B\n+C", "a\nB\nC"],
  ["a line more at the end ends as most do", "a\r\nb\r\nc\nd", "-d\n+D\n+E", "a\r\nb\r\nc\nD\r\nE"],
  ["a line more at the end ends in LF, if half do", "a\r\nb\nc", "-c\n+C\n+D", "a\r\nb\nC\nD"],
  ["no line ending at the end, last line gone", "a\nb", " a\n-b", "a"],
  ["white space is part of a line", "a \n\tb\n", "-a \n+c", "c\n\tb\n"],
])("%s", async (_, text, body, expected) => {
  expect(await apply(text, body)).toBe(expected);
});

test.each([
  [
    "does not fit",
    "a\nb\n",
    "@@\n-c\n+d",
    "the hunk at line 3 of the patch does not fit f: give its lines exactly as they are",
  ],
  [
    "names what is near",
    "a\n\tbcd\n",
    "-  bcd\n+x",
    "Line 2 differs: at column 1 the patch has 2 spaces, the file has 1 tab",
  ],
  ["fits twice", "x\ny\nx\n", "-x\n+z", "fits f in 2 places, at lines 1 and 3; add lines around it"],
  [
    "only comes before",
    "a\nb\n",
    "@@\n-b\n+B\n@@\n-a\n+A",
    "the hunk at line 6 of the patch does not fit f after line 2: its lines are at line 1; give hunks in the order of the file",
  ],
  ["@@ is not there", "a\n", "@@ f()\n-a\n+b", 'has "@@ f()", a line that f does not have after line 0'],
  [
    "@@ is almost there",
    "a\nf():\n",
    "@@ f()\n-a\n+b",
    "after line 0. Nearest is line 2:\n2: f():\nLine 2 differs: at column 4",
  ],
  ["@@ is there twice", "f\na\nf\na\n", "@@ f\n-a\n+b", 'has "@@ f", which is at lines 1 and 3 of f'],
  ["only comes", "a\n", "@@\n+b", "has only new lines; add a line of the file before or after them"],
  [
    "not at the end",
    "x\ny\n",
    "-x\n+z\n*** End of File",
    "does not fit f at its end: its lines are at line 1; leave out",
  ],
  ["fits twice with a blank line", "x\nx\n", "-x\n+z\n\n", "fits f in 2 places, at lines 1 and 2"],
  ["comes with a blank line alone", "a\n\nb\n", "@@\n+b\n\n", "has only new lines"],
])("what %s is refused", async (_, text, body, words) => {
  await expect(apply(text, body)).rejects.toMatchObject({ code: "invalid_arguments" });
  await expect(apply(text, body)).rejects.toThrow(words);
});

test("a random change that a patch describes is made exactly, or refused", async () => {
  const line = fc.constantFrom("a", "b", "", " a", "\tb");
  const text = fc.array(fc.record({ keep: fc.constantFrom("keep", "drop", "add"), line }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, fc.nat(3), fc.constantFrom("\n", "\r\n"), async (steps, context, ending) => {
      const old = steps.filter(({ keep }) => keep !== "add").map((step) => step.line + ending);
      const changed = steps.filter(({ keep }) => keep !== "drop").map((step) => step.line + ending);
      const first = steps.findIndex(({ keep }) => keep !== "keep");
      fc.pre(first >= 0);
      const last = steps.findLastIndex(({ keep }) => keep !== "keep");
      const hunk = steps
        .slice(Math.max(first - context, 0), last + 1 + context)
        .map((step) => (step.keep === "keep" ? " " : step.keep === "drop" ? "-" : "+") + step.line);
      const result = await apply(old.join(""), `@@\n${hunk.join("\n")}`).catch((error: { code: string }) => error.code);
      expect([changed.join(""), "invalid_arguments"]).toContain(result);
    }),
    { numRuns: 500 },
  );
});

test("every line that is looked at for an @@ line lets other work run", async () => {
  const text = Array.from({ length: 1000 }, (_, index) => `${index}\n`).join("");
  const [operation] = parsePatch(`${begin}@@ 700\n-701\n+x\n*** End Patch`);
  if (operation?.kind !== "update") return expect.fail("no update");
  let turns = 0;
  const pause = (): undefined => {
    turns += 1;
  };
  expect(await applyHunks(text, operation.hunks, "f", pause)).toContain("700\nx\n702");
  // Every line but the one found: it must be the only one.
  expect(turns).toBeGreaterThanOrEqual(999);
});
