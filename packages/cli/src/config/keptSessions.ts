import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "../state/stateBase.ts";

/** How long conversations are kept, as the user's own file says. What is wrong with that file was said before. */
export async function keptSessions(
  env: NodeJS.ProcessEnv,
): Promise<{ readonly days: number; readonly megabytes: number }> {
  const most = { days: 90, megabytes: 500 };
  if (!existsSync(join(configFolder(env), "config.json"))) return most;
  const { userConfig } = await import("./configFiles.ts");
  const values =
    (
      await userConfig(env)
        .read()
        .catch(() => undefined)
    )?.values ?? {};
  const number = (key: string, otherwise: number): number => (values[key] as number | undefined) ?? otherwise;
  return {
    days: number("sessions.keepDays", most.days),
    megabytes: number("sessions.keepMegabytes", most.megabytes),
  };
}
