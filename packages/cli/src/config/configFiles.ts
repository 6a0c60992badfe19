import { join } from "node:path";
import type { JsonSchema } from "@toolcrib/core";
import { type ConfigFile, configFile } from "@toolcrib/project";
import { configSchema } from "../configSchema.ts";
import { usageError } from "../exitReasons.ts";
import { configFolder } from "../state/stateBase.ts";
import { projectConfigName } from "./projectConfigName.ts";
import { settings } from "./settings.ts";

/** The user's own file. */
export function userConfig(env: NodeJS.ProcessEnv): ConfigFile {
  return configFile({
    path: join(configFolder(env), "config.json"),
    schema: configSchema() as JsonSchema,
    advice: "correct it with: toolcrib config edit",
    toError: usageError,
  });
}

/** The file of a directory, which somebody else may have written. */
export function projectConfig(directory: string): ConfigFile {
  return configFile({
    path: join(directory, projectConfigName),
    name: projectConfigName,
    root: directory,
    schema: configSchema() as JsonSchema,
    check(values) {
      const key = Object.keys(values).find((one) => settings[one]?.isUserOnly);
      return key && `${key} is for your own file alone: toolcrib config set ${key} …`;
    },
    advice: "correct it with: toolcrib config edit --project",
    toError: usageError,
  });
}
