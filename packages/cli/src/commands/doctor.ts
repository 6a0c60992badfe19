import type { Check, CheckResult, DoctorFlags, Finding } from "../doctor/check.ts";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { Style } from "../terminal/style.ts";
import type { DefineCommand } from "./defineCommand.ts";

interface Entry {
  readonly title: string;
  readonly load: () => Promise<Check>;
}

/** What is looked at without a flag. */
const checks: Readonly<Record<string, Entry>> = {
  machine: { title: "This machine", load: async () => (await import("../doctor/machine.ts")).checkMachine },
  model: { title: "Model", load: async () => (await import("../doctor/model.ts")).checkModel },
  sandbox: { title: "Sandbox", load: async () => (await import("../doctor/machine.ts")).checkSandbox },
  config: { title: "Configuration", load: async () => (await import("../doctor/project.ts")).checkConfig },
  servers: { title: "MCP servers", load: async () => (await import("../doctor/project.ts")).checkServers },
  packages: { title: "Installed packages", load: async () => (await import("../doctor/project.ts")).checkPackages },
};

/** Only on request: it asks the registry. */
const contracts: Entry = {
  title: "What an upgrade of the installed packages would change",
  load: async () => (await import("../doctor/contracts.ts")).checkContracts,
};

/** `toolcrib doctor`: looks at the machine and the project, and says what to do about what it finds. */
export const define: DefineCommand = (command, action) =>
  command
    .option("--contracts", "instead: what an upgrade of the installed packages would change for callers and prompts")
    .option("--to <version>", "the version or tag to compare with (default: latest), as npm has it here")
    .option("--tarballs <path>", "compare with this .tgz, or with those in this folder; without a registry")
    .option("--json", "as JSON")
    .action(action(doctor));

async function doctor(program: Program, flags: DoctorFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const isUpgrade = flags.contracts || flags.to !== undefined || flags.tarballs !== undefined;
  const found: [string, CheckResult][] = [];
  for (const [name, { title, load }] of Object.entries(isUpgrade ? { contracts } : checks)) {
    const check = await load();
    const result = await interrupts.during((signal) => check(flags, program, signal));
    found.push([name, result]);
    if (flags.json) continue;
    terminal.show(`${terminal.dataStyle.bold(title)}\n`);
    for (const finding of result.findings) terminal.show(`${show(finding, terminal.dataStyle)}\n`);
  }
  const isOk = found.every(([, { findings }]) => findings.every(({ level }) => level !== "problem"));
  if (flags.json) terminal.data(`${JSON.stringify({ ok: isOk, ...Object.fromEntries(found) }, null, 2)}\n`);
  return isOk ? "ok" : "failed";
}

function show({ level, text, advice }: Finding, { red, green, bold, dim }: Style): string {
  const mark = { ok: green("✓"), note: "•", warning: bold("!"), problem: red("✗") }[level];
  const [first, ...lines] = text.split("\n");
  const rest = [...lines, ...(advice ? [dim(`what to do: ${advice}`)] : [])];
  return [`${mark} ${first}`, ...rest.map((line) => `    ${line}`)].join("\n");
}
