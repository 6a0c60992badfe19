import { join } from "node:path";
import { showInvisible } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import { makeStateFolder } from "../state/stateFolder.ts";
import { type FolderTrust, folderTrust } from "./folderTrust.ts";
import { settings } from "./settings.ts";
import type { Settings } from "./settingValues.ts";

/** Opens the record of the user's trust in a directory's configuration. */
export function projectTrust(env: NodeJS.ProcessEnv, directory: string = process.cwd()): FolderTrust {
  return folderTrust(join(makeStateFolder(env), "trusted.json"), directory);
}

/** Keeps the settings that hold without trust: a `deny` rule only narrows. An `ask` rule can turn a refusal into a question. */
export function untrusted(values: Settings): Settings {
  return "deny" in values ? { deny: values.deny } : {};
}

/** Lists what a project's configuration would change, a line each, the risky first. Empty if trust changes nothing. */
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
