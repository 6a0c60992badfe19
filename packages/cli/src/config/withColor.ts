import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "../state/stateBase.ts";

/** The environment, with the variable that stands for `color` of the user's own file. What is wrong with that file is said later. */
export async function withColor(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const isDecided = env.NO_COLOR || env.FORCE_COLOR !== undefined;
  if (isDecided || !existsSync(join(configFolder(env), "config.json"))) return env;
  const { userConfig } = await import("./configFiles.ts");
  const file = await userConfig(env)
    .read()
    .catch(() => undefined);
  const { color } = file?.values ?? {};
  if (color === "never") return { ...env, NO_COLOR: "1" };
  return color === "always" ? { ...env, FORCE_COLOR: "1" } : env;
}
