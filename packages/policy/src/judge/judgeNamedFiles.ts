import { resolve } from "node:path";
import { isInside } from "@toolcrib/core/files";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import type { Decision, Verdict } from "../verdict.ts";
import { oneLine } from "../words.ts";
import { beforeWildcard, fileEffect, pathFrom, rawWords, readsContents, removals } from "./commandFiles.ts";
import { findBelow } from "./findBelow.ts";
import { type Groups, judgeFile } from "./judgeFile.ts";
import { judgeMentions } from "./judgeMentions.ts";
import type { Line } from "./line.ts";
import { isPlainChange } from "./workingDirectories.ts";

const shellOrigin = "shell";
/** Not a file of any folder. */
const nullDevice = "/dev/null";

/**
 * Judges the files that a shell line names: what redirections and read-only commands open, what `rm` and `mv` take away, and every
 * other word that could be a path. What is merely allowed is left out.
 */
export async function judgeNamedFiles(line: Line, commandGroups: Groups, settings: Settings): Promise<Verdict[]> {
  const fileSettings: Settings = line.vouched ? { ...settings, mode: "full" } : settings;
  const directories = line.directories ?? [line.effect.cwd ?? settings.scope.cwd];
  const verdicts: Verdict[] = [];
  const judge = async (
    kind: "read" | "write" | "delete",
    word: string,
    tree: boolean,
    under: Settings,
  ): Promise<void> => {
    for (const directory of directories) {
      const effect = fileEffect(kind, directory, word, tree);
      const verdict = await judgeFile(effect, shellOrigin, effectGroups(kind, settings), under);
      if (verdict.decision !== "allow") verdicts.push(verdict);
    }
  };
  // What may be removed is for the rules of commands to say: only what is forbidden or protected counts here.
  const judgeRemovals = async (words: readonly string[]): Promise<void> => {
    for (const word of removals(words)) await judge("delete", word, true, { ...settings, mode: "full" });
  };
  for (const { kind, path } of line.redirections) {
    if (path !== nullDevice) await judge(kind, path, false, fileSettings);
  }
  for (const command of line.unreadable === undefined ? line.commands : []) {
    if (isPlainChange(command.words)) continue;
    const { readOnly, paths } = command.judged;
    if (readOnly) {
      const contents = readsContents(command);
      const all = contents && paths.length === 0 ? ["."] : paths;
      for (const word of all.filter((one) => one !== nullDevice)) {
        await judge("read", beforeWildcard(word), contents, fileSettings);
        verdicts.push(...(await judgeWildcard(word, directories, fileSettings)));
      }
    }
    if (!readOnly) await judgeRemovals(command.words);
  }
  if (line.unreadable !== undefined) await judgeRemovals(rawWords(line.command));
  verdicts.push(...judgeMentions(line, directories, commandGroups, settings));
  return verdicts;
}

/** Only rules about effects: those about the tool were tested against the command. */
export function effectGroups(kind: "read" | "write" | "delete" | "network", { rules }: Settings): Groups {
  const of = (list: Decision): readonly RuleGroup[] => {
    const group = rules[list].ofEffect(kind);
    return group === undefined ? [] : [group];
  };
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

/** A link among the files that a pattern stands for may lead out of the roots. */
async function judgeWildcard(word: string, directories: readonly string[], settings: Settings): Promise<Verdict[]> {
  const base = beforeWildcard(word);
  if (base === word || settings.mode === "full") return [];
  const depth = word.slice(base === "." ? 0 : base.length).split("/").length;
  const places = [...settings.roots, ...settings.readable];
  const verdicts: Verdict[] = [];
  for (const directory of directories) {
    const isWayOut = (path: string): boolean => !places.some((place) => isInside(place, pathFrom(directory, path)));
    const folder = resolve(directory, base);
    const { found, complete } = await findBelow(
      folder,
      (path, entry) => entry.isSymbolicLink() && isWayOut(path),
      depth,
    );
    if (found === undefined && complete) continue;
    const what = `read ${oneLine(word)}`;
    const why =
      found === undefined ? "there is too much in its folder to look through" : "a link there leads out of the roots";
    const decision = settings.mode === "read-only" ? "deny" : "ask";
    verdicts.push({ decision, cause: { by: "mode", mode: settings.mode }, what, why });
  }
  return verdicts;
}
