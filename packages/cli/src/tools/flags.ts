import type { Mode } from "@toolcrib/policy";
import { type Command, Option } from "commander";
import { usageError } from "../exitReasons.ts";
import { collect, collectNames, ruleAdvice } from "../flagValues.ts";
import { oneLine } from "../terminal/render.ts";

/** Those of `@toolcrib/policy`, which the flags do not load: a conversation shows its prompt before. */
const modes: readonly Mode[] = ["ask", "read-only", "accept-edits", "full"];

/** Adds the flags that choose tools and roots. */
export function addToolFlags(command: Command): Command {
  return command
    .option(
      "--on <address>",
      "the tools of a remote: docker:NAME, podman:NAME, image:NAME, ssh:HOST, kubectl:POD, each with :/FOLDER or not, command:WORDS",
    )
    .option("--root <dir>", "a directory the file tools may not leave; may be given again (default: this one)", collect)
    .option("--enable <names>", "switch tools on (remove and run_bash are off)", collectNames)
    .option("--disable <names>", "switch tools off", collectNames)
    .option("--tools <names>", "only these tools", collectNames)
    .option("--exclude-tools <names>", "all but these tools", collectNames)
    .option("--shell <shell>", "of run_bash: sh, bash or the path of one (default: bash where it is found, else sh)");
}

/** Adds the flags that choose tools, and those of the sandbox that `run_bash` runs its commands in. */
export function addSandboxFlags(command: Command): Command {
  return addToolFlags(command)
    .option("--sandbox", "run_bash: commands in a sandbox; an error where there is none (default: where there is one)")
    .option("--no-sandbox", "run_bash: commands with all your rights")
    .option(
      "--sandbox-allow <names>",
      "what commands in the sandbox may use: network, sockets, or change: protected paths such as .git/config",
      collectNames,
    );
}

/** Adds the flags of permissions; `mode` is the one without a flag. */
export function addPermissionFlags(command: Command, mode: Mode): Command {
  return command
    .addOption(new Option("--mode <mode>", `what runs where no rule decides (default: ${mode})`).choices([...modes]))
    .addOption(
      new Option("--yes", "short for --mode full: only deny and ask rules, and protected paths, stop a call").conflicts(
        "mode",
      ),
    )
    .option(
      "--allow <rule>",
      "calls that run, such as 'run_bash(npm test *)' or 'write_file(src/)'; may be given again",
      collectRules("--allow"),
    )
    .option(
      "--ask <rule>",
      "calls that are asked about whatever allows them; may be given again",
      collectRules("--ask"),
    )
    .option(
      "--deny <rule>",
      "calls that never run, such as 'effect:read(.env)'; may be given again",
      collectRules("--deny"),
    );
}

function collectRules(flag: string) {
  return (rule: string, before: readonly string[] = []): string[] => {
    // The next flag, where the rule was left out: it could be a name.
    if (rule.startsWith("-")) throw usageError(`${flag} ${oneLine(rule, 80)}: ${flag} takes a rule; ${ruleAdvice}`);
    return collect(rule, before);
  };
}

/** Adds the flag that mounts servers. */
export function addMcpFlag(command: Command): Command {
  return command.option("--mcp", "also the tools of the servers in .mcp.json, which it starts (see toolcrib mcp)");
}
