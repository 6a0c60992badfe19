import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Folders } from "../state/folders.ts";
import type { Settings } from "./settings.ts";

export async function ownSettings(folders: Folders): Promise<Settings | undefined> {
  if (!existsSync(join(folders.config, "config.json"))) return undefined;
  const { userConfig } = await import("./configFile.ts");
  return (await userConfig(folders).read())?.values;
}

/** Returns the environment, with the variable that stands for `color` of the user's own file. */
export function withColor(env: NodeJS.ProcessEnv, { color }: Settings): NodeJS.ProcessEnv {
  if (env.NO_COLOR || env.FORCE_COLOR !== undefined) return env;
  if (color === "never") return { ...env, NO_COLOR: "1" };
  return color === "always" ? { ...env, FORCE_COLOR: "1" } : env;
}

export function sessionRetention(own: Settings): { readonly days: number; readonly megabytes: number } {
  return { days: Number(own["sessions.keepDays"] ?? 90), megabytes: Number(own["sessions.keepMegabytes"] ?? 500) };
}
