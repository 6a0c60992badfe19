import { join } from "node:path";
import { messageOf } from "@toolcrib/core/text";
import type { PolicyOptions } from "@toolcrib/policy";
import { usageError } from "../exitReasons.ts";
import type { Folders } from "../state/folders.ts";
import { configSchema } from "../version.ts";
import { type ConfigFile, configFile } from "./configFile.ts";
import { projectConfigName, settings } from "./settings.ts";
import type { Settings } from "./settingValues.ts";

/** Throws a usage error for a rule that would stop every later command. Not part of each reading: the policy takes 100 ms to load. */
export async function checkRules({ allow, ask, deny }: Settings, file?: ConfigFile): Promise<void> {
  if (!allow && !ask && !deny) return;
  const { createPolicy } = await import("@toolcrib/policy");
  try {
    createPolicy({ allow, ask, deny } as PolicyOptions);
  } catch (error) {
    const problem = messageOf(error).replace(/^createPolicy: /, "");
    const flag = file?.name === projectConfigName ? " --project" : "";
    throw usageError(file ? `${file.name}: ${problem}; correct it with: toolcrib config edit${flag}` : problem);
  }
}

/** Opens the user's own file. */
export function userConfig({ config }: Folders): ConfigFile {
  return configFile({
    path: join(config, "config.json"),
    schema: configSchema(),
    advice: "correct it with: toolcrib config edit",
  });
}

/** Opens the file of a directory, which somebody else may have written. */
export function projectConfig(directory: string): ConfigFile {
  return configFile({
    path: join(directory, projectConfigName),
    name: projectConfigName,
    root: directory,
    schema: configSchema(),
    check(values) {
      const key = Object.keys(values).find((one) => settings[one]?.isUserOnly);
      return key && `${key} belongs only in your own file: toolcrib config set ${key} …`;
    },
    advice: "correct it with: toolcrib config edit --project",
  });
}
