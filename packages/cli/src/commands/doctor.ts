import type { Check, CheckResult, Finding } from "../doctor/check.ts";
import { checkMachine, checkSandbox } from "../doctor/machine.ts";
import { checkModel } from "../doctor/model.ts";
import { checkConfig, checkContracts, checkPackages, checkServers } from "../doctor/project.ts";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { Style } from "../terminal/style.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

const checks: Readonly<Record<string, readonly [title: string, Check]>> = {
  machine: ["This machine", checkMachine],
  model: ["Model", checkModel],
  sandbox: ["Sandbox", checkSandbox],
  config: ["Configuration", checkConfig],
  servers: ["MCP servers", checkServers],
  packages: ["Installed packages", checkPackages],
};

/** `toolcrib doctor`: looks at the machine and the project, and says what to do about what it finds. */
export const doctor: DefineCommand = defineCommand({
  flags: { json: { usage: "--json", about: "as JSON" } },
  run: (program, { json }) => runChecks(checks, program, json),
});

/** `toolcrib contracts`: compares two installed versions. */
export const contracts: DefineCommand = defineCommand({
  flags: { json: { usage: "--json", about: "as JSON" } },
  arguments: [["<folder>", "where the other versions are installed"]],
  run(program, { json }, [folder]) {
    const check: Check = async ({ cwd }) => checkContracts(cwd, folder);
    return runChecks({ contracts: ["What the other versions would change", check] }, program, json);
  },
});

async function runChecks(entries: typeof checks, program: Program, asJson = false): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const found: [string, CheckResult][] = [];
  for (const [name, [title, check]] of Object.entries(entries)) {
    const result = await interrupts.during((signal) => check(program, signal));
    found.push([name, result]);
    if (asJson) continue;
    terminal.show(`${terminal.dataStyle.bold(title)}\n`);
    for (const finding of result.findings) terminal.show(`${show(finding, terminal.dataStyle)}\n`);
  }
  const isOk = found.every(([, { findings }]) => findings.every(({ level }) => level !== "problem"));
  if (asJson) terminal.data(`${JSON.stringify({ ok: isOk, ...Object.fromEntries(found) }, null, 2)}\n`);
  return isOk ? "ok" : "failed";
}

function show({ level, text, advice }: Finding, { red, green, bold, dim }: Style): string {
  const mark = { ok: green("✓"), note: "•", warning: bold("!"), problem: red("✗") }[level];
  const [first, ...lines] = text.split("\n");
  const rest = [...lines, ...(advice ? [dim(`what to do: ${advice}`)] : [])];
  return [`${mark} ${first}`, ...rest.map((line) => `    ${line}`)].join("\n");
}
