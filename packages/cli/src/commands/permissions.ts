import { oneLine } from "@toolcrib/core/internal";
import { type ExitReason, usageError } from "../exitReasons.ts";
import { permissionFlags, sandboxFlags, toolFlags } from "../sharedFlags.ts";
import { createPermissions, describePermissions } from "../tools/permissions.ts";
import { withPrograms } from "../tools/programs.ts";
import { connectRemote } from "../tools/remote.ts";
import { createToolSet, rootsOf, unknownTool } from "../tools/toolSet.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";
import { argumentsFrom } from "./toolsCall.ts";

const listFlags = { ...permissionFlags, json: { usage: "--json", about: "the answers, as JSON" } } as const;
const explainFlags = {
  ...toolFlags,
  shell: sandboxFlags.shell,
  ...permissionFlags,
  json: { usage: "--json", about: "print the explanation as JSON" },
} as const;

/** `toolcrib permissions list`: what the flags mean, and the answers that are remembered for this directory. */
export const list: DefineCommand = defineCommand({
  flags: listFlags,
  async run(program, flags): Promise<ExitReason> {
    const { terminal } = program;
    const permissions = createPermissions(flags, rootsOf({}, program.cwd), program, "ask");
    const answers = await permissions.policy.list();
    if (flags.json) terminal.data(`${JSON.stringify(answers, null, 2)}\n`);
    else for (const line of await describePermissions(permissions)) terminal.show(`${line}\n`);
    if (answers.length === 0) terminal.aside("No answer is remembered for this directory.");
    return "ok";
  },
});

/** `toolcrib permissions explain TOOL …`: what would be decided about a call, and why. Runs nothing. */
export const explain: DefineCommand = defineCommand({
  flags: explainFlags,
  usage: "[options] TOOL ['{\"arg\": …}' | @FILE | --arg value …]",
  arguments: [
    ["<tool>", "the tool, as tools list names it"],
    ["[arguments...]", "its arguments, as for tools call; for run_bash also just the command"],
  ],
  takesAnyFlag: true,
  async run(program, given, [name, words]): Promise<ExitReason> {
    const { terminal } = program;
    const flags = await connectRemote(await withPrograms(given), program);
    const permissions = createPermissions(flags, rootsOf(flags, program.cwd), program, "ask");
    const registry = createToolSet(flags, permissions, program);
    const tool = registry.get(name);
    const listing = registry.listTools().find((one) => one.name === name);
    if (!tool || !listing) throw unknownTool(`permissions explain ${name}`, name, registry, commandAdvice);
    const [command = ""] = words;
    const isCommand = name === "run_bash" && words.length === 1 && !/^[-{@]/.test(command);
    const args = isCommand
      ? { command }
      : ((await argumentsFrom(words, listing, program.cwd)) as Record<string, unknown>);
    const explanation = await permissions.policy.explain({ name, args, tool });
    if (flags.json) {
      terminal.data(`${JSON.stringify(explanation, null, 2)}\n`);
      return "ok";
    }
    const { text, parts } = explanation;
    terminal.show(`${oneLine(text, 1000)}\n`);
    for (const { decision, what, why } of parts.length > 1 ? parts : []) {
      terminal.show(`  ${decision.padEnd(5)} ${oneLine(`${what}; ${why}`, 300)}\n`);
    }
    if (!listing.enabled) terminal.aside(`${name} is off unless you pass --enable ${name}.`);
    return "ok";
  },
});

/** `toolcrib permissions revoke ID…`: forgets remembered answers of this directory. */
export const revoke: DefineCommand = defineCommand({
  arguments: [["<ids...>", "answers as permissions list names them, or all"]],
  async run(program, _flags, [ids]): Promise<ExitReason> {
    const { policy } = createPermissions({}, rootsOf({}, program.cwd), program, "ask");
    const known = await policy.list();
    const chosen = ids.flatMap((id) => {
      if (id === "all") return known;
      const found = known.filter((answer) => id !== "" && answer.id.startsWith(id));
      if (found.length === 1) return found;
      const problem =
        found.length > 1
          ? "more than one answer begins with this; write more of its id"
          : "there is no such answer; permissions list shows them";
      throw usageError(`permissions revoke ${id}: ${problem}`);
    });
    for (const { id, text } of new Set(chosen)) {
      await policy.revoke(id);
      program.terminal.show(`Forgotten: ${oneLine(text, 160)}\n`);
    }
    if (chosen.length === 0) program.terminal.note("No answer is remembered for this directory.");
    return "ok";
  },
});

const commandAdvice = '. For a command: toolcrib permissions explain run_bash "COMMAND"';
