import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Place, Program } from "../program.ts";
import { findSetting, projectConfigName, settings } from "./settings.ts";

/** Gives the options of a command that were not given as flags what the configuration says. Rules are added to those of the flags. */
export async function applyConfig(command: Command, program: Program): Promise<void> {
  // An editor names a directory for each session.
  if (command.name() === "acp") return;
  const values = await configuredValues(command, program);
  for (const [key, value] of Object.entries(values)) command.setOptionValueWithSource(key, value, "config");
}

/**
 * Reads the values of options as the configuration of a directory has them. Asks whether it is trusted only without `directory`, for the
 * working directory: one that an editor names is asked about nowhere, even if it is the same.
 */
export async function configuredValues(
  command: Command,
  program: Program,
  directory?: string,
): Promise<Record<string, unknown>> {
  const { env, settings: settingsOfUser, cwd } = program;
  const place = directory ?? cwd;
  const options = new Map(command.options.map((option) => [option.attributeName(), option]));
  const keys = Object.keys(settings).filter(
    (key) =>
      (options.has(key) || settings[key]?.commands?.includes(command.name())) &&
      !settings[key]?.except?.includes(command.name()),
  );
  if (keys.length === 0) return {};
  const isConfigured =
    (await settingsOfUser) !== undefined ||
    existsSync(join(place, projectConfigName)) ||
    existsSync(join(place, ".toolcrib")) ||
    Object.keys(env).some((name) => name.startsWith("TOOLCRIB_"));
  const values: Record<string, unknown> = {};
  if (!isConfigured) return values;
  const { loadSources } = await import("./loadSources.ts");
  const sources = await loadSources(program, directory === undefined, place);
  const isFlag = (key: string): boolean => command.getOptionValueSource(key) === "cli";
  for (const key of keys) {
    const found = findSetting(sources, key);
    if (!found) continue;
    const given: unknown = command.getOptionValue(key);
    if (settings[key]?.addsUp) {
      values[key] = [found.value, isFlag(key) ? given : []].flat();
    } else if (!isFlag(key) && !(key === "baseUrl" && isFlag("model")) && !(key === "mcp" && !hasServers(program))) {
      // As the flag reads it: 5m is a number of milliseconds.
      const { parseArg } = options.get(key) ?? {};
      const isWord = typeof found.value === "string" || typeof found.value === "number";
      values[key] = parseArg && isWord ? parseArg(String(found.value), undefined) : found.value;
    }
  }
  const theirs = sources.find(({ isTrusted }) => isTrusted === false);
  if (theirs && "deny" in values) values.projectDeny = theirs.values.deny;
  return values;
}

/** Returns whether there may be servers: `--mcp` without any is an error, the setting is not. */
export function hasServers({ folders, cwd }: Place): boolean {
  return existsSync(join(cwd, ".mcp.json")) || existsSync(join(folders.config, "mcp.json"));
}
