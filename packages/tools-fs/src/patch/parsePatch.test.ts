import { isToolError } from "@toolcrib/core";
import { startCountingSteps } from "@toolcrib/testing/countSteps";
import fc from "fast-check";
import { afterAll, expect, test, vi } from "vitest";

// Test files share a process, and only code that has not run yet is counted in full.
const steps = startCountingSteps();
vi.resetModules();
const { parsePatch } = await import("./parsePatch.ts");
afterAll(() => steps.stop());

test("every kind of part is read", () => {
  const patch = `
*** Begin Patch
*** Add File: docs/new file.md
+# Title
+
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ class A
@@   run() {
 keep
-old
+new
*** End of File
*** Delete File: gone
*** Add File: empty
*** End Patch
`;
  expect(parsePatch(patch)).toEqual([
    { kind: "add", line: 3, path: "docs/new file.md", content: "# Title\n\n" },
    {
      kind: "update",
      line: 6,
      path: "src/a.ts",
      newPath: "src/b.ts",
      hunks: [
        {
          line: 8,
          anchors: ["class A", "run() {"],
          lines: [
            { kind: " ", text: "keep" },
            { kind: "-", text: "old" },
            { kind: "+", text: "new" },
          ],
          blanks: 0,
          atEnd: true,
        },
      ],
    },
    { kind: "delete", line: 14, path: "gone" },
    { kind: "add", line: 15, path: "empty", content: "" },
  ]);
});

const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;

test.each([
  ["", "line 1 (): a patch begins with *** Begin Patch"],
  ["*** Update File: a", "line 1 (*** Update File: a): a patch begins with"],
  ["*** Begin Patch", "a patch ends with *** End Patch; give it whole"],
  ["*** Begin Patch\n*** Delete File: a", "line 2 (*** Delete File: a): a patch ends with"],
  [wrap(""), "changes no file"],
  [wrap("*** Add File: a\n+x\n\n+y"), "line 4 (): each line of a new file starts with +"],
  ["```\nx\n```", "line 2 (x): a patch begins with"],
  [`cat > f <<EOF\n${wrap("*** Delete File: a")}\nEOF`, "line 1 (cat > f <<EOF): a patch begins with"],
  [wrap("*** Update File: a\n\n"), "changes nothing; give at least one hunk"],
  ["*** Begin Patch\n*** End Patch", "changes no file"],
  [wrap("*** Delete File: "), "names no file"],
  [wrap("*** Delete File: a\n+x"), "line 3 (+x): nothing follows *** Delete File"],
  [wrap("*** Add File: a\nx"), "line 3 (x): each line of a new file starts with +"],
  [wrap("*** Update File: a"), "changes nothing; give at least one hunk"],
  [wrap("*** Update File: a\n@@\n b"), "line 3 (@@): a hunk needs a line that starts with - or +"],
  [
    wrap("*** Update File: a\n-b\nc"),
    "line 4 (c): each line of a hunk starts with a space (kept), - (removed) or + (added)",
  ],
  [wrap("*** Update File: a\n*** Move to: \n-b"), "names no file"],
  [wrap("*** Rename File: a"), "expected *** Add File"],
  [`\n\n${wrap("x")}`, "line 4 (x): expected"],
  [wrap(Array.from({ length: 501 }, (_, at) => `*** Delete File: ${at}`).join("\n")), "at most 500 files"],
])("%# is refused by the number of its line", (patch, words) => {
  expect(() => parsePatch(patch)).toThrow(words);
});

const parts = [
  "*** Add File: a\n+x",
  "*** Delete File: b",
  "*** Update File: c\n@@ f\n-x\n+y\n@@\n-z\n*** End of File",
];
const plain = parsePatch(wrap(parts.join("\n")));
const withoutLines = (operations: unknown): unknown =>
  JSON.parse(
    JSON.stringify(operations, (key, value: unknown) => (key === "line" || key === "blanks" ? undefined : value)),
  );

test.each([
  (patch: string) => `apply_patch <<'EOF'\n${patch}\nEOF\n`,
  (patch: string) => `cat <<EOF\n${patch}\nEOF`,
  (patch: string) => `<<"PATCH"\n${patch}\nPATCH`,
  (patch: string) => `\`\`\`diff\n${patch}\n\`\`\``,
  (patch: string) => `\`\`\`bash\napply_patch <<'EOF'\n${patch}\nEOF\n\`\`\`\n`,
  (patch: string) => `%%bash\napply_patch <<"EOF"\n${patch}\nEOF`,
  (patch: string) => patch.replace(/^(?=\*\*\* (?:Begin|Add|Delete|End Patch))/gm, "  "),
])("what models put around a patch is passed over: %#", (around) => {
  expect(withoutLines(parsePatch(around(wrap(parts.join("\n")))))).toEqual(withoutLines(plain));
});

test("the number of a line counts what was passed over", () => {
  expect(() => parsePatch(`\n\`\`\`\n${wrap("x")}\n\`\`\``)).toThrow("line 4 (x): expected");
});

test("blank lines between parts, and before the end, change nothing", () => {
  const lines = wrap(parts.join("\n")).split("\n");
  const between = lines.flatMap((line, at) =>
    at > 0 && /^(?:\*\*\*|@@)/.test(line) && !/of File/.test(line) ? [at] : [],
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...between), fc.nat(3)), { maxLength: 6 }), (blanks) => {
      const patch = [...lines];
      for (const [at, count] of blanks) patch[at] = "\n".repeat(count) + patch[at];
      const read = parsePatch(patch.join("\n")).map((operation) =>
        operation.kind === "update"
          ? {
              ...operation,
              hunks: operation.hunks.map((hunk) => ({
                ...hunk,
                lines: hunk.lines.slice(0, hunk.lines.length - hunk.blanks),
              })),
            }
          : operation,
      );
      expect(withoutLines(read)).toEqual(withoutLines(plain));
    }),
  );
});

test("a move may have unchanged lines alone", () => {
  expect(parsePatch(wrap("*** Update File: a\n*** Move to: b\n@@\n keep"))).toMatchObject([{ newPath: "b" }]);
});

test("any text is read or refused with a reason", () => {
  const piece = fc.constantFrom(
    ...["*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Update File: b", "*** Delete File: c"],
    ...["*** Move to: d", "*** End of File", "@@", "@@ x", " x", "+x", "-x", "", "x", "\r"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (lines, whole) => {
      try {
        parsePatch(whole ? wrap(lines.join("\n")) : lines.join("\n"));
      } catch (error) {
        expect(isToolError(error) && error.code).toBe("invalid_arguments");
      }
    }),
  );
});

test("four times as many files and lines take about four times the work", async () => {
  const stepsWith = (files: number): Promise<number> => {
    const parts = Array.from({ length: files }, (_, index) => `*** Add File: ${index}\n${"+x\n".repeat(100)}`);
    const patch = `*** Begin Patch\n${parts.join("")}*** End Patch`;
    return steps.count("/packages/tools-fs/src/", async () => expect(parsePatch(patch)).toHaveLength(files));
  };
  const few = await stepsWith(20);
  expect(few).toBeGreaterThan(2000);
  expect(await stepsWith(80)).toBeLessThan(5 * few);
});
