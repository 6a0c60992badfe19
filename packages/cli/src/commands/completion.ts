import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Command, Option } from "commander";
import { settings } from "../config/settings.ts";
import { type ExitReason, usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { sessionsOf, titleOf } from "../state/sessionFile.ts";
import { packageFile } from "../version.ts";
import { type DefineCommand, defineCommand, flagLoaders } from "./defineCommand.ts";

const shells = ["bash", "zsh", "fish"];

/** `toolcrib completion`: the script for a shell; by `words` the script asks what the word that is typed may be. */
export const completion: DefineCommand = defineCommand({
  arguments: [
    ["<bash|zsh|fish>", "your shell"],
    ["[typed...]", "for the script: words, the shell, -- and what is typed so far"],
  ],
  passThrough: true,
  more: `
  bash  eval "$(toolcrib completion bash)"      in ~/.bashrc
  zsh   eval "$(toolcrib completion zsh)"       in ~/.zshrc, after compinit
  fish  toolcrib completion fish | source       in ~/.config/fish/config.fish`,
  async run(program, _flags, [shell, [caller = "", ...typed]], command): Promise<ExitReason> {
    if (shell === "words") {
      const words = caller === "bash" ? joinAssigned(typed) : typed;
      const found = await candidates(program, command.parent ?? command, words[0] === "--" ? words.slice(1) : words);
      const prefix = /^--[\w-]+=/.exec(words.at(-1) ?? "")?.[0] ?? "";
      // bash replaces what stands after the =, others the whole word.
      for (const { value, about } of found)
        program.terminal.data(`${caller === "bash" ? "" : prefix}${value}\t${about}\n`);
      return "ok";
    }
    if (!shells.includes(shell)) throw usageError(`completion ${shell}: expected ${shells.join(", ")}`);
    program.terminal.data(readFileSync(packageFile(`completion/toolcrib.${shell}`), "utf8"));
    return "ok";
  },
});

/** Joins what bash splits: it takes `--mode=full` for three words. */
function joinAssigned(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last?.startsWith("--") && last !== "--" && (word === "=" || last.endsWith("=")))
      joined.push(joined.pop() + word);
    else joined.push(word);
  }
  return joined;
}

interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** Lists candidates for the last word, as it goes on from what is typed. None for a file. */
async function candidates(program: Program, root: Command, words: readonly string[]): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  let command = root;
  let waiting: Option | undefined;
  const given: string[] = [];
  for (const word of words.slice(0, -1)) {
    const next = waiting || given.length > 0 ? undefined : command.commands.find((one) => one.name() === word);
    if (waiting) waiting = undefined;
    else if (next) {
      command = next;
      await flagLoaders.get(command)?.();
    } else if (word.startsWith("-")) waiting = optionOf(command, word);
    else given.push(word);
  }
  const assigned = /^(--[\w-]+)=(.*)$/s.exec(typed);
  const option = waiting ?? (assigned ? optionOf(command, assigned[1] ?? "") : undefined);
  const start = assigned && !waiting ? (assigned[2] ?? "") : typed;
  const all = option
    ? await valuesOf(program, option.attributeName(), option.argChoices ?? [], start)
    : typed.startsWith("-")
      ? command.options.map(({ long, short, description }) => ({ value: long ?? short ?? "", about: description }))
      : [
          ...(given.length > 0 ? [] : namedCommands(command)).map((one) => ({
            value: one.name(),
            about: one.description(),
          })),
          ...(await valuesOf(program, `${pathOf(command)} ${given.length}`, [], start)),
        ];
  return (
    all
      .map(({ value, about }) => ({ value, about: about.replace(/\s+/g, " ").slice(0, 80) }))
      // A name out of a file, such as that of a server, could be anything.
      .filter(({ value }) => value.startsWith(start) && /^[\w@%+.,:/-]+$/.test(value))
  );
}

function namedCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => visible.includes(one) || one.name() === "help");
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(
    ({ long, short, required, optional }) => (required || optional) && [long, short].includes(flag),
  );
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Lists the values of an option by its name, or of an argument by the command and its place. */
async function valuesOf(
  program: Program,
  what: string,
  choices: readonly string[],
  start: string,
): Promise<Candidate[]> {
  const plain = (values: readonly string[], about = ""): Candidate[] => values.map((value) => ({ value, about }));
  if (choices.length > 0) return plain(choices);
  if (what === "model") {
    const { keyedModels, providerNames } = await import("@toolcrib/agent/models");
    return plain([...providerNames.map((name) => (name === "offline" ? name : `${name}/`)), ...keyedModels()]);
  }
  if (what === "on") return plain(["docker:", "podman:", "image:", "ssh:", "kubectl:", "command:"]);
  if (/^(?:tools|enable|disable)$/.test(what)) {
    const before = start.slice(0, start.lastIndexOf(",") + 1);
    return plain((await toolNames(program)).map((name) => before + name));
  }
  if (/^(?:tools call|permissions explain) 0$/.test(what)) return plain(await toolNames(program));
  if (/^(?:resume|sessions (?:show|export|delete) 0)$/.test(what)) {
    const found = await sessionsOf(program.cwd, program.folders).list();
    return found.map((one) => ({ value: basename(one.file, ".jsonl"), about: titleOf(one) }));
  }
  if (/^mcp (?:allow|remove|test|login|logout) 0$/.test(what)) {
    const { serversFile } = await import("../tools/mcpMount.ts");
    const files = [serversFile(program), serversFile(program, true)];
    const read = await Promise.all(files.map((file) => file.read().catch(() => ({ mcpServers: {} }))));
    return plain([...new Set(read.flatMap(({ mcpServers }) => Object.keys(mcpServers)))]);
  }
  if (/^config (?:get|set) 0$/.test(what)) return plain(Object.keys(settings));
  return what === "completion 0" ? plain(shells) : [];
}

async function toolNames(program: Program): Promise<string[]> {
  const [{ createToolSet }, { createPermissions }] = await Promise.all([
    import("../tools/toolSet.ts"),
    import("../tools/permissions.ts"),
  ]);
  const permissions = createPermissions({}, [program.cwd], program, "ask");
  return createToolSet({}, permissions, program).getToolNames();
}
