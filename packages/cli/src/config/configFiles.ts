import { join } from "node:path";
import type { JsonSchema } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import type { PolicyOptions } from "@toolcrib/policy";
import { type ConfigFile, configFile, type Settings } from "@toolcrib/project";
import { configSchema } from "../configSchema.ts";
import { usageError } from "../exitReasons.ts";
import { configFolder } from "../state/stateBase.ts";
import { projectConfigName } from "./projectConfigName.ts";
import { settings } from "./settings.ts";

/** What is wrong with rules of permissions, if anything. Not part of each reading: the policy takes 100 ms to load. */
export async function ruleProblem({ allow, ask, deny }: Settings): Promise<string | undefined> {
  if (!allow && !ask && !deny) return undefined;
  const { createPolicy } = await import("@toolcrib/policy");
  try {
    createPolicy({ allow, ask, deny } as PolicyOptions);
    return undefined;
  } catch (error) {
    return messageOf(error).replace(/^createPolicy: /, "");
  }
}

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
