import type { Check, CheckResult, DoctorFlags, Finding } from "../doctor/check.ts";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { Style } from "../terminal/style.ts";
import type { DefineCommand } from "./defineCommand.ts";

/** By the name of its flag: what can be looked at. Without any of these flags it is all. */
const checks: Readonly<Record<"contracts", { readonly title: string; readonly load: () => Promise<Check> }>> = {
  contracts: {
    title: "What an upgrade of the installed packages would change",
    load: async () => (await import("../doctor/contracts.ts")).checkContracts,
  },
};

/** `toolcrib doctor`: looks at a project, and says what to do about what it finds. */
export const define: DefineCommand = (command, action) =>
  command
    .option("--contracts", "what an upgrade of the installed packages would change for callers and prompts")
    .option("--to <version>", "the version or tag to compare with (default: latest), as npm has it here")
    .option("--tarballs <path>", "compare with this .tgz, or with those in this folder; without a registry")
    .option("--json", "as JSON")
    .action(action(doctor));

async function doctor(program: Program, flags: DoctorFlags): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const names = Object.keys(checks) as (keyof typeof checks)[];
  const asked = names.filter((name) => flags[name]);
  const found: [string, CheckResult][] = [];
  for (const name of asked.length > 0 ? asked : names) {
    const check = await checks[name].load();
    const result = await interrupts.during((signal) => check(flags, program, signal));
    found.push([name, result]);
    if (flags.json) continue;
    terminal.show(`${terminal.dataStyle.bold(checks[name].title)}\n`);
    for (const finding of result.findings) terminal.show(`${show(finding, terminal.dataStyle)}\n`);
  }
  const isOk = found.every(([, { findings }]) => findings.every(({ level }) => level !== "problem"));
  if (flags.json) terminal.data(`${JSON.stringify({ ok: isOk, ...Object.fromEntries(found) }, null, 2)}\n`);
  return isOk ? "ok" : "failed";
}

function show({ level, text, advice }: Finding, { red, green, dim }: Style): string {
  const mark = { ok: green("✓"), note: "•", problem: red("✗") }[level];
  const [first, ...lines] = text.split("\n");
  const rest = [...lines, ...(advice ? [dim(`what to do: ${advice}`)] : [])];
  return [`${mark} ${first}`, ...rest.map((line) => `    ${line}`)].join("\n");
}
