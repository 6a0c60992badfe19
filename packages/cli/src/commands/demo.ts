import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { ToolRegistry } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { createPolicy } from "@toolcrib/policy";
import { createRunBashTool } from "@toolcrib/tools-bash";
import { createFsTools } from "@toolcrib/tools-fs";
import { createUndo } from "@toolcrib/tools-fs/undo";
import type { ExitReason } from "../exitReasons.ts";
import { connectionAdvice } from "../sharedFlags.ts";
import { createRenderer } from "../terminal/render.ts";
import { createPermissions } from "../tools/permissions.ts";
import { createToolSet } from "../tools/toolSet.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

/** `toolcrib demo`: the offline stand-in surveys the working directory, through the real loop and the real tools. */
export const demo: DefineCommand = defineCommand({
  async run(program): Promise<ExitReason> {
    const { terminal, interrupts, cwd: here } = program;
    const folder = temporaryFolder();
    const root = folder ? [here, folder] : [here];
    const permissions = createPermissions({}, root, program, "accept-edits");
    const agent = new Agent(new OfflineProvider(), {
      tools: (context) => createToolSet({ root }, permissions, program, { context }),
    });
    const request = folder ? `survey . and write a report to "${join(folder, "report.md")}"` : "survey .";
    const { bold, dim } = terminal.style;
    terminal.note(
      `${bold(`toolcrib run '${request}'`)}\n${dim(`in ${here}, by the offline stand-in: it follows rules, without a language model or a network. The tools and the loop are real.`)}\n`,
    );

    if (!folder)
      terminal.note(dim(`No folder can be created in ${tmpdir()} (TMPDIR), so the report is not written to a file.`));
    const render = createRenderer(terminal.style);
    await interrupts.during(async (signal) => {
      for await (const event of agent.streamChat(request, { signal })) terminal.print(render(event));
    });
    if (folder)
      terminal.show(
        `\n${terminal.dataStyle.bold("What the README promises")}, by the same tools:\n${await showPromises(folder)}`,
      );
    terminal.show(`\n${whatNext(terminal.dataStyle.bold)}`);
    return "ok";
  },
});

function temporaryFolder(): string | undefined {
  return attempt(() => mkdtempSync(join(tmpdir(), "toolcrib-demo-")));
}

function whatNext(bold: (text: string) => string): string {
  return `${bold("A real model")}, in one of three ways:
${connectionAdvice.map((way) => `  - ${way}\n`).join("")}
${bold("What else to try")} (from a clone, npm start -- stands for toolcrib):
  toolcrib run "find TODO in ."
  toolcrib tools list
  toolcrib tools call search_text --query TODO --paths .
  toolcrib chat
  toolcrib --help
`;
}

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
