import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ToolErrorDetails } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createLeftovers } from "@toolcrib/tools-bash";
import { expect, test } from "vitest";
import { findFolders } from "../state/folders.ts";
import { whyNotRun } from "./allowAdvice.ts";
import { createPermissions } from "./permissions.ts";
import { createToolSet } from "./toolSet.ts";

test.each([
  ["a b.txt", "--allow 'write_file(./a b.txt)' allows exactly this."],
  ["it's.txt", "--allow 'write_file(./it'\\''s.txt)' allows exactly this."],
  // Shown in one line, its rule would name another file.
  ["a  b.txt", "No narrow rule allows it; --allow 'write_file' allows every call of write_file."],
  ["a\nb.txt", "No narrow rule allows it; --allow 'write_file' allows every call of write_file."],
])("the advice for a write of %j is a flag that holds as it is shown", async (path, advice) => {
  const base = temporaryFolder("advice");
  const folder = join(base, "work");
  mkdirSync(folder);
  const folders = findFolders({ XDG_STATE_HOME: join(base, "state") });
  const terminal = { style: { dim: String }, note: () => {} } as never;
  const permissions = createPermissions({}, [folder], { folders, cwd: folder, terminal }, "ask");
  const registry = createToolSet({ root: [folder] }, permissions, {
    folders,
    cwd: folder,
    terminal,
    leftovers: createLeftovers(),
  });
  const args = { path, content: "" };
  const outcome = await registry.invoke("write_file", args);
  if (outcome.ok) throw new Error("it was not asked about");
  const { question } = outcome.error.details as ToolErrorDetails["approval_required"];
  expect(await whyNotRun({ name: "write_file", args, question }, registry, permissions)).toContain(` ${advice}`);
});
