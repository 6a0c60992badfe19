import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Program } from "../program.ts";
import { configFolder } from "../state/stateBase.ts";
import { projectConfigName } from "./projectConfigName.ts";
import { findSetting, settings } from "./settings.ts";

/** Gives the options of a command that were not given as flags what the configuration says. Rules are added to those of the flags. */
export async function applyConfig(command: Command, program: Program): Promise<void> {
  const { env } = program;
  const options = new Map(command.options.map((option) => [option.attributeName(), option]));
  const keys = Object.keys(settings).filter(
    (key) => options.has(key) && !settings[key]?.except?.includes(command.name()),
  );
  const isConfigured =
    existsSync(projectConfigName) ||
    existsSync(join(configFolder(env), "config.json")) ||
    Object.keys(env).some((name) => name.startsWith("TOOLCRIB_"));
  if (keys.length === 0 || !isConfigured) return;
  const { loadSources } = await import("./loadSources.ts");
  const sources = await loadSources(program);
  const isFlag = (key: string): boolean => command.getOptionValueSource(key) === "cli";
  for (const key of keys) {
    const found = findSetting(sources, key);
    if (!found) continue;
    const given: unknown = command.getOptionValue(key);
    if (settings[key]?.addsUp) {
      const rules = [found.value, isFlag(key) ? given : []].flat();
      command.setOptionValueWithSource(key, rules, "config");
    } else if (!isFlag(key) && !(key === "baseUrl" && isFlag("model")) && !(key === "mcp" && !hasServers(env))) {
      command.setOptionValueWithSource(key, found.value, "config");
    }
  }
}

/** `--mcp` is an error without servers; the setting is not. */
function hasServers(env: NodeJS.ProcessEnv): boolean {
  return existsSync(".mcp.json") || existsSync(join(configFolder(env), "mcp.json"));
}
