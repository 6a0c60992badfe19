import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { createPolicy } from "@toolcrib/policy";
import { createRunBashTool } from "@toolcrib/tools-bash";
import { createFsTools } from "@toolcrib/tools-fs";
import { createUndo } from "@toolcrib/tools-fs/undo";

/** Keeps the promises of the README before the user's eyes: calls of real tools in a new folder, and what a model reads. */
export async function showPromises(folder: string): Promise<string> {
  const root = join(folder, "promises");
  mkdirSync(root);
  for (const [name, text] of [
    ["report.md", "# Report\n"],
    ["notes.md", "mine\n"],
  ] as const)
    writeFileSync(join(root, name), text);
  const undo = createUndo({ directory: join(folder, "undo"), root });
  const policy = createPolicy({ roots: root, mode: "accept-edits", deny: ["run_bash(git push *)"] });
  const registry = new ToolRegistry([...createFsTools({ root }), createRunBashTool({ cwd: root })]);
  registry.guard(policy.guard).use(undo.middleware);
  const lines: string[] = [];
  const call = async (name: string, args: object, shown: string): Promise<void> => {
    lines.push(`  ${name} ${shown}`, `    ${(await registry.execute(name, args)).split("\n").join("\n    ")}`);
  };
  lines.push("One policy for every loop: a rule denies git push, however the line spells it.");
  const command = "ls && git -C . push";
  await call("run_bash", { command }, command);
  lines.push("Errors that help: the model reads what to do next.");
  await call("read_file", { path: "reprot.md" }, "reprot.md");
  lines.push("Nothing is lost: a write is undone.");
  undo.begin("Tidy up the notes");
  await call("write_file", { path: "notes.md", content: "tidy\n" }, "notes.md");
  const undone = await undo.undo();
  const restored = undone?.restored.length === 1 ? "undone" : "not undone";
  lines.push(`    ${restored}: notes.md holds ${JSON.stringify(readFileSync(join(root, "notes.md"), "utf8"))} again`);
  return `${lines.join("\n")}\n`;
}
