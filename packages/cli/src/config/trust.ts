import { join } from "node:path";
import { clip, showInvisible } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import { makeStateFolder } from "../state/stateFolder.ts";
import { type FolderTrust, folderTrust } from "./folderTrust.ts";
import type { ProjectFile } from "./projectFiles.ts";
import { projectConfigName, settings } from "./settings.ts";
import type { Settings } from "./settingValues.ts";

/** Opens the record of the user's trust in a directory's configuration. */
export function projectTrust(env: NodeJS.ProcessEnv, directory: string = process.cwd()): FolderTrust {
  return folderTrust(join(makeStateFolder(env), "trusted.json"), directory);
}

/** Returns what a yes to a project is bound to: its configuration, and the files that it brings along. */
export function trustedText(configuration: string | undefined, files: readonly ProjectFile[]): string {
  return files.length === 0 ? (configuration ?? "") : JSON.stringify([configuration ?? "", files]);
}

/** Names what a project brings along, for people. */
export function nameProjectFiles(hasConfiguration: boolean, files: readonly ProjectFile[]): string {
  const names = [...(hasConfiguration ? [projectConfigName] : []), ...(files.length > 0 ? [".toolcrib"] : [])];
  return names.join(" and ");
}

/** Keeps the settings that hold without trust: a `deny` rule only narrows. An `ask` rule can turn a refusal into a question. */
export function untrusted(values: Settings): Settings {
  return "deny" in values ? { deny: values.deny } : {};
}

/** Lists what a project's configuration and files would change, a line each, the risky first. Empty if trust changes nothing. */
export function describeChanges(values: Settings, files: readonly ProjectFile[] = []): string[] {
  const rows = Object.entries(values)
    .filter(([key]) => !(key in untrusted(values)))
    .map(([key, value]) => {
      const risk = settings[key]?.risk?.(value);
      const shown = typeof value === "string" ? redactUrls(value) : value;
      return { risk, line: `${risk ? "!" : " "} ${key}: ${JSON.stringify(shown)}${risk ? ` (${risk})` : ""}` };
    });
  for (const { path, text } of files) rows.push(describeFile(path, text));
  const order = [...rows.filter(({ risk }) => risk), ...rows.filter(({ risk }) => !risk)];
  return order.map(({ line }) => showInvisible(line));
}

function describeFile(path: string, text: string): { readonly risk: string | undefined; readonly line: string } {
  const [, command] = /^commands\/(.*)\.md$/s.exec(path) ?? [];
  const shown = JSON.stringify(clip(text.trim().replace(/\s+/g, " "), 160));
  const risk = command === undefined ? "hooks may run it with all your rights" : undefined;
  const what = command === undefined ? `.toolcrib/${path}` : `/${command} in chat`;
  return { risk, line: `${risk ? "!" : " "} ${what}: ${shown}${risk ? ` (${risk})` : ""}` };
}
