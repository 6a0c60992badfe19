import { join } from "node:path";
import { redactUrls, showInvisible } from "@toolcrib/core/text";
import { type FolderTrust, folderTrust, type Settings } from "@toolcrib/project";
import { makeStateFolder } from "../state/stateFolder.ts";
import { settings } from "./settings.ts";

/** What the user has said to the configuration of a directory. */
export function projectTrust(env: NodeJS.ProcessEnv, directory: string = process.cwd()): FolderTrust {
  return folderTrust(join(makeStateFolder(env), "trusted.json"), directory);
}

/** What holds of a project without its being trusted: a `deny` rule only narrows. An `ask` rule can put a question where the mode refuses. */
export function untrusted(values: Settings): Settings {
  return "deny" in values ? { deny: values.deny } : {};
}

/** What a project's configuration would change, a line each; what could harm comes first. Empty where trust changes nothing. */
export function describeChanges(values: Settings): string[] {
  const rows = Object.entries(values)
    .filter(([key]) => !(key in untrusted(values)))
    .map(([key, value]) => {
      const risk = settings[key]?.risk?.(value);
      const shown = typeof value === "string" ? redactUrls(value) : value;
      return { risk, line: `${risk ? "!" : " "} ${key}: ${JSON.stringify(shown)}${risk ? ` (${risk})` : ""}` };
    });
  const order = [...rows.filter(({ risk }) => risk), ...rows.filter(({ risk }) => !risk)];
  return order.map(({ line }) => showInvisible(line));
}
