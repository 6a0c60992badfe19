import { clip, isObject } from "@toolcrib/core/text";
import { byteOrderMark, parseJson, withoutComments } from "@toolcrib/kit/text";
import type { McpConfig, McpServerConfig } from "../client/serverConfig.ts";
import { badConfigFile } from "./configErrors.ts";
import { withoutValue, withValue } from "./editText.ts";

/** Reads the text of a configuration: JSON with comments. `file` names it in errors. Throws an McpError (`bad_config_file`). */
export function parseConfig(text: string, file: string): McpConfig {
  const { mcpServers } = parseEntries(text, file);
  const wrong = Object.entries(mcpServers).find(([, entry]) => !isObject(entry));
  if (!wrong) return { mcpServers };
  throw badConfigFile(
    file,
    `${file}: the entry ${JSON.stringify(clip(wrong[0], 80))} is not an object; correct or remove it`,
  );
}

/** Parses entries. Each may be anything: one that is wrong can still be removed. */
function parseEntries(text: string, file: string): McpConfig {
  const toError = (message: string): Error => badConfigFile(file, message);
  // Not parsed by jsonc-parser: there a key `__proto__` would give an entry fields that its digest does not cover.
  const config = parseJson(withoutComments(text.replace(byteOrderMark, " ")), file, toError);
  if (isObject(config)) {
    const { mcpServers = {} } = config;
    if (isObject(mcpServers)) return { mcpServers: mcpServers as Record<string, McpServerConfig> };
  }
  throw toError(`${file}: expected { "mcpServers": { NAME: { … } } }; correct it or move it away`);
}

/**
 * Changes one entry, or removes it where `change` returns nothing, and leaves the rest of the text as it is written: comments, order,
 * indentation. `found` is undefined for a file that is not there.
 */
export function changeConfig(
  found: string | undefined,
  name: string,
  change: (config: McpConfig) => McpServerConfig | undefined,
  file: string,
): string {
  const text = found ?? "{\n}\n";
  const path = ["mcpServers", name];
  const entry = change(parseEntries(text, file));
  const changed = entry === undefined ? withoutValue(text, path) : withValue(text, path, entry, true);
  if (JSON.stringify(parseEntries(changed, file).mcpServers[name]) !== JSON.stringify(entry)) {
    throw badConfigFile(file, `${file}: it has a key twice, so ${name} cannot be changed; correct it first`);
  }
  return changed;
}
