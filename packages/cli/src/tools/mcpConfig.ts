import { dirname, join } from "node:path";
import { nearestName } from "@toolcrib/core";
import { createPathScope, withFileLock, writeAtomically } from "@toolcrib/core/files";
import { isObject } from "@toolcrib/core/text";
import type { McpConfig, McpServerConfig } from "@toolcrib/mcp";
import { applyEdits, createScanner, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import { usageError } from "../exitReasons.ts";
import { readGivenFile } from "../state/givenFile.ts";
import { parseJson } from "../state/jsonText.ts";
import { mcpConfigName } from "./mcpConfigName.ts";

const mostMegabytes = 1;

const byteOrderMark = "\ufeff";

/** Reads `.mcp.json` of a directory; without one there are no servers. Throws a usage error where its content is not valid. */
export async function readMcpConfig(directory: string): Promise<McpConfig> {
  return parseConfig((await readGivenFile(join(directory, mcpConfigName), mcpConfigName, mostMegabytes)) ?? "{}");
}

/** Throws a usage error for a server that is not in the configuration. */
export function requireServer({ mcpServers }: McpConfig, name: string): void {
  if (Object.hasOwn(mcpServers, name)) return;
  const names = Object.keys(mcpServers);
  const nearest = nearestName(name, names);
  const known = names.length > 0 ? `there are ${names.join(", ")}` : "there are none";
  throw usageError(`${name} is not in ${mcpConfigName}; ${nearest ? `did you mean ${nearest}?` : known}`);
}

function parseConfig(text: string): McpConfig {
  // Not parsed by jsonc-parser: there a key `__proto__` would give an entry fields that its digest does not cover.
  const config = parseJson(withoutComments(text.replace(byteOrderMark, " ")), mcpConfigName);
  if (isObject(config)) {
    const { mcpServers = {} } = config;
    if (isObject(mcpServers) && Object.values(mcpServers).every(isObject))
      return { mcpServers: mcpServers as Record<string, McpServerConfig> };
  }
  throw usageError(`${mcpConfigName}: expected { "mcpServers": { NAME: { … } } }; correct it or move it away`);
}

/**
 * Changes one entry, or removes it where `change` returns nothing, and leaves the rest of the file as it is written: comments, order,
 * indentation. Two programs that do so at once wait for each other.
 */
export async function changeMcpConfig(
  directory: string,
  name: string,
  change: (config: McpConfig) => McpServerConfig | undefined,
): Promise<void> {
  const scope = createPathScope({ root: directory, cwd: directory });
  const path = await scope.resolve(mcpConfigName);
  await withFileLock(join(dirname(path), `${mcpConfigName}.lock`), async () => {
    const found = await readGivenFile(path, mcpConfigName, mostMegabytes);
    const text = found?.replace(byteOrderMark, "") ?? "{}";
    const entry = change(parseConfig(text));
    const changed = entry === undefined ? withoutServer(text, name) : withServer(text, name, entry);
    if (JSON.stringify(parseConfig(changed).mcpServers[name]) !== JSON.stringify(entry)) {
      throw usageError(`${mcpConfigName}: it has a key twice, so ${name} cannot be changed; correct it first`);
    }
    const mark = found?.startsWith(byteOrderMark) ? byteOrderMark : "";
    await writeAtomically(path, `${mark}${changed}${found === undefined ? "\n" : ""}`, { scope });
  });
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

/** Comments become blanks, so that positions stay the same. */
function withoutComments(text: string): string {
  const scanner = createScanner(text);
  let plain = "";
  let copied = 0;
  do {
    scanner.scan();
    const start = scanner.getTokenOffset();
    if (text[start] !== "/") continue;
    const end = start + scanner.getTokenLength();
    plain += text.slice(copied, start) + text.slice(start, end).replace(/[^\r\n]/g, " ");
    copied = end;
  } while (scanner.getTokenLength() > 0);
  return plain + text.slice(copied);
}
