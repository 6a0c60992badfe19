import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "../state/stateBase.ts";
import type { Settings } from "./settingValues.ts";

/** Reads the user's own file. Holds nothing where it is wrong: the command that uses it says so. */
async function ownSettings(env: NodeJS.ProcessEnv): Promise<Settings> {
  if (!existsSync(join(configFolder(env), "config.json"))) return {};
  const { userConfig } = await import("./configFiles.ts");
  const content = await userConfig(env)
    .read()
    .catch(() => undefined);
  return content?.values ?? {};
}

/** Returns the environment, with the variable that stands for `color` of the user's own file. */
export async function withColor(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  if (env.NO_COLOR || env.FORCE_COLOR !== undefined) return env;
  const { color } = await ownSettings(env);
  if (color === "never") return { ...env, NO_COLOR: "1" };
  return color === "always" ? { ...env, FORCE_COLOR: "1" } : env;
}

/** Returns how long conversations are kept, and how much of them. */
export async function sessionRetention(env: NodeJS.ProcessEnv): Promise<{ days: number; megabytes: number }> {
  const { "sessions.keepDays": days, "sessions.keepMegabytes": megabytes } = await ownSettings(env);
  return {
    days: typeof days === "number" ? days : 90,
    megabytes: typeof megabytes === "number" ? megabytes : 500,
  };
}
