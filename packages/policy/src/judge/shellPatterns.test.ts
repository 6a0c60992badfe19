import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeAll, expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { makePatternFolder, readAnswers, wordValue } from "../../../../testing/shell/shellAnswers.ts";
import { createPolicy } from "../policy.ts";
import { Looks } from "./looks.ts";

const folder = join(sharedFolder("policy-patterns"), "in", "folder");
beforeAll(() => makePatternFolder(folder));

/** Without slashes that do not matter. */
function plain(path: string): string {
  return path.replace(/\/+/g, "/").replace(/\/$/, "");
}

test("dash, bash and busybox find no name for a pattern that was not seen", () => {
  const { answers } = readAnswers("patternAnswers");
  const unseen = Object.entries(answers).flatMap(([text, names]) => {
    const seen = new Set(new Looks().expand(folder, wordValue(text)).map(plain));
    return names.filter((name) => !seen.has(plain(name))).map((name) => `${text} -> ${name}`);
  });
  expect(unseen).toEqual([]);
  expect(Object.keys(answers).length).toBeGreaterThan(200);
});

test.each(linesOf("shellPatterns", "may read outside"))(
  "%s is not allowed where only reading inside of the folder is",
  async (line) => {
    const policy = createPolicy({ roots: folder, home: folder, mode: "read-only", deny: ["effect:read(.env)"] });
    expect((await judgeLine(policy, line, folder)).decision).not.toBe("allow");
  },
);

test.each(["rm -r .*/secret", "rm .[.]/secret", "cp a .g[[:alpha:]]t/hooks", "rm -r .[]g]it"])(
  "%s is not covered by a rule",
  async (line) => {
    const allow = ["run_bash(rm *)", "run_bash(cp *)"];
    const policy = createPolicy({ roots: folder, home: folder, allow, deny: ["effect:delete(secret)"] });
    expect((await judgeLine(policy, line, folder)).decision).not.toBe("allow");
  },
);

test("patterns that stay inside run", async () => {
  const policy = createPolicy({ roots: folder, home: folder, mode: "read-only", deny: ["effect:read(.env)"] });
  for (const line of ["cat *.ts", "cat [a-z]", "ls .g*", "for f in *.ts; do echo x; done", "cat .[[:upper:]]x"]) {
    const { decision, text } = await judgeLine(policy, line, folder);
    expect(decision, text).toBe("allow");
  }
});

test("a dash that bash alone reads in $'…' is no option unseen", async () => {
  const policy = createPolicy({ roots: folder, home: folder, mode: "read-only" });
  for (const dash of ["\\x{2d}", "\\x2d", "\\055"]) {
    expect((await judgeLine(policy, `find . $'${dash}exec' touch x \\;`, folder, "bash")).decision).not.toBe("allow");
  }
});
