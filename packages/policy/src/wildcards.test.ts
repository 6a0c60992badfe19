import { describe, expect, test } from "vitest";
import { sharedFolders } from "../../../testing/shell/checkLines.ts";
import { judgeLine } from "../../../testing/shell/judgeLine.ts";
import { wildcardLines } from "../../../testing/shell/wildcardLines.ts";
import { createPolicy } from "./policy.ts";

const folders = sharedFolders("policy-wildcards");

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
