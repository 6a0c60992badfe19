import { clip, isObject } from "@toolcrib/core/text";
import { byteOrderMark, parseJson, withoutComments } from "@toolcrib/kit/text";
import { applyEdits, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import type { McpConfig, McpServerConfig } from "../client/serverConfig.ts";
import { badConfigFile } from "./configErrors.ts";

/** Reads the text of a configuration: JSON with comments. `file` names it in errors. Throws an McpError (`bad_config_file`). */
export function parseConfig(text: string, file: string): McpConfig {
  const { mcpServers } = parseEntries(text, file);
  const wrong = Object.entries(mcpServers).find(([, entry]) => !isObject(entry));
  if (!wrong) return { mcpServers };
  throw badConfigFile(
    file,
    `${file}: the entry ${JSON.stringify(clip(wrong[0], 80))} is no object; correct or remove it`,
  );
}

/** An entry may be anything: one that is wrong can still be removed. */
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
  const text = found?.replace(byteOrderMark, "") ?? "{}";
  const entry = change(parseEntries(text, file));
  const changed = entry === undefined ? withoutServer(text, name) : withServer(text, name, entry);
  if (JSON.stringify(parseEntries(changed, file).mcpServers[name]) !== JSON.stringify(entry)) {
    throw badConfigFile(file, `${file}: it has a key twice, so ${name} cannot be changed; correct it first`);
  }
  const mark = found?.startsWith(byteOrderMark) ? byteOrderMark : "";
  return `${mark}${changed}${found === undefined ? "\n" : ""}`;
}

/** Takes the entry out, its lines and one comma. Not by `modify`: it would take comments beside it along. */
function withoutServer(text: string, name: string): string {
  const entry = findNodeAtLocation(parseTree(text) as Node, ["mcpServers", name]);
  if (!entry?.parent) return text;
  const { offset, length } = entry.parent;
  const plain = withoutComments(text);
  const next = plain.slice(offset + length).search(/\S/) + offset + length;
  const comma = plain[next] === "," ? next : plain.slice(0, offset).search(/,\s*$/);
  const rest = comma < 0 ? text : text.slice(0, comma) + text.slice(comma + 1);
  const start = comma >= 0 && comma < offset ? offset - 1 : offset;
  const [before, after] = [rest.slice(0, start), rest.slice(start + length)];
  const isAlone = /\n[ \t]*$/.test(before) && /^[ \t]*\r?\n/.test(after);
  return isAlone ? before.replace(/\r?\n[ \t]*$/, "") + after.replace(/^[ \t]+/, "") : before + after;
}

/** Adds the entry after the last one. Not by `modify`: it would also reformat what stands on the same line. */
function withServer(text: string, name: string, entry: McpServerConfig): string {
  const root = parseTree(text) as Node;
  const servers = findNodeAtLocation(root, ["mcpServers"]);
  const [parent, depth] = servers ? [servers, 2] : [root, 1];
  const added = servers ? { [name]: entry } : { mcpServers: { [name]: entry } };
  const unit = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = JSON.stringify(added, null, unit).split("\n").slice(1, -1);
  const close = parent.offset + parent.length - 1;
  const end = text.slice(0, close).trimEnd().length;
  const isOwnLine = text.slice(end, close).includes("\n");
  const content = lines.map((line) => eol + unit.repeat(depth - 1) + line).join("");
  const edits = [{ offset: end, length: 0, content: content + (isOwnLine ? "" : eol + unit.repeat(depth - 1)) }];
  const last = parent.children?.at(-1);
  if (last) edits.unshift({ offset: last.offset + last.length, length: 0, content: "," });
  return applyEdits(text, edits);
}
