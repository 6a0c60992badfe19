import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolders } from "../../../testing/shell/checkLines.ts";
import { judgeLine } from "../../../testing/shell/judgeLine.ts";
import type { Folders } from "../../../testing/shell/recordShell.ts";
import { wildcardLines } from "../../../testing/shell/wildcardLines.ts";
import { createPolicy } from "./policy.ts";

let base: string;
let folders: Folders;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "policy-wildcards-")));
  folders = makeFolders(base);
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe.each(wildcardLines)("the * of $allow", ({ allow, asked, runs }) => {
  const judge = (line: string) =>
    judgeLine(
      createPolicy({ roots: folders.project, home: folders.home, allow: [`run_bash(${allow})`] }),
      line,
      folders.project,
    );

  test.each(asked)("does not cover %s", async (line) => {
    const { decision, text } = await judge(line);
    expect(decision, text).toBe("ask");
  });

  test.each(runs)("covers %s", async (line) => {
    const { decision, text } = await judge(line);
    expect(decision, text).toBe("allow");
  });
});
