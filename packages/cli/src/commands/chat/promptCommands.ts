import { clip, showInvisible } from "@toolcrib/core/text";
import { trustedFiles } from "../../config/loadSources.ts";
import { describeLeftOut, type ProjectFile, readFolder } from "../../config/projectFiles.ts";
import type { Program } from "../../program.ts";
import type { SlashCommand } from "./slashContext.ts";

/** Reads the user's own commands, and those of this directory that the user trusts, by their headings in `/help`. */
export async function readPromptCommands(program: Program): Promise<Record<string, readonly SlashCommand[]>> {
  const folder = program.folders.config;
  const { files, leftOut } = readFolder(folder, "commands");
  const told = describeLeftOut(leftOut, folder);
  if (told !== undefined) program.terminal.aside(told);
  const own = commandsIn(files);
  const project = commandsIn(await trustedFiles(program, program.cwd));
  // A project's command does not stand in for one of the user's.
  const others = project.filter(({ name }) => !own.some((one) => one.name === name));
  return {
    ...(own.length > 0 && { "Your own": own }),
    ...(others.length > 0 && { "Of this project": others }),
  };
}

function commandsIn(files: readonly ProjectFile[]): SlashCommand[] {
  return files.flatMap(({ path, text }) => {
    const [, name] = /^commands\/(\w[\w-]*)\.md$/.exec(path) ?? [];
    return name === undefined ? [] : [promptCommand(name, text)];
  });
}

/** Makes a command of a Markdown file, whose first lines between `---` may say `description` and `argument-hint`. */
function promptCommand(name: string, text: string): SlashCommand {
  const [head = "", front = ""] = /^---\r?\n(.*?)\r?\n---\r?\n/s.exec(text) ?? [];
  const field = (key: string): string | undefined =>
    new RegExp(`^${key}:[ \\t]*(.+)$`, "m")
      .exec(front)?.[1]
      ?.trim()
      .replace(/^(["'])(.*)\1$/, "$2");
  const body = text.slice(head.length).trim();
  const [firstLine = ""] = body.split("\n");
  return {
    name,
    takes: showInvisible(clip(field("argument-hint") ?? "", 40)),
    summary: showInvisible(clip(field("description") ?? firstLine.replace(/^#+\s*/, ""), 100)),
    async run({ send }, _words, typed) {
      await send(fillPrompt(body, typed), typed);
      return undefined;
    },
  };
}

/** Puts arguments in place of `$ARGUMENTS`, `$1` … `$9`; behind the text where it has no place for them. */
export function fillPrompt(body: string, typed: string): string {
  const words = [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, ...groups]) => groups.find((one) => one !== undefined) ?? "",
  );
  let isFilled = false;
  const filled = body.replace(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_whole, what: string) => {
    isFilled = true;
    return what === "ARGUMENTS" ? typed : (words[Number(what) - 1] ?? "");
  });
  return isFilled || typed === "" ? filled : `${filled}\n\n${typed}`;
}
