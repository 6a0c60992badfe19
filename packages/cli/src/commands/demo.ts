import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { attempt } from "@toolcrib/core/internal";
import type { ExitReason } from "../exitReasons.ts";
import { connectionAdvice } from "../sharedFlags.ts";
import { createRenderer } from "../terminal/render.ts";
import { createPermissions } from "../tools/permissions.ts";
import { createToolSet } from "../tools/toolSet.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";
import { showPromises } from "./promises.ts";

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
