import { type Command, Option } from "commander";
import { usageError } from "../exitReasons.ts";
import { addMcpFlag, addPermissionFlags, addSandboxFlags } from "../tools/flags.ts";

/** Adds the flags of the commands that talk to a model. */
export function addConversationFlags(command: Command): Command {
  return addMcpFlag(
    addModelFlags(command)
      .option("-c, --continue", "go on with the last conversation of this directory")
      .option(
        "-r, --resume [session]",
        "go on with a conversation: its number or id (toolcrib sessions list), its file, or the one that you pick",
      ),
  );
}

/** Those of them that say how to talk to a model, and not about what. */
export function addModelFlags(command: Command): Command {
  return addPermissionFlags(
    addSandboxFlags(
      command
        .option(
          "-m, --model <provider/model>",
          "openai, anthropic, openrouter, ollama, lmstudio, llamacpp, openai-compatible or offline",
        )
        .option("--base-url <url>", "where the provider is, for -m")
        .addOption(new Option("--reasoning <effort>", "how much the model thinks").choices(efforts))
        .addOption(
          new Option("--cache-ttl <time>", "how long Anthropic keeps a prompt (default: 5m)").choices(["5m", "1h"]),
        )
        .option("--max-steps <n>", "replies of the model at most (default: 50)", positiveInteger)
        .option("--no-context-files", "read no AGENTS.md as instructions"),
    ),
    "ask",
  );
}

/** Which of them a model takes it says itself. */
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function positiveInteger(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw usageError(`--max-steps ${value}: expected a whole number above 0`);
}
