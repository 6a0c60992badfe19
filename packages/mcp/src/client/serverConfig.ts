import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { McpError, shownName } from "../errors.ts";
import { record } from "../mapping.ts";

/** An entry of `mcpServers` that starts a process. */
export interface McpCommandConfig {
  type?: string;
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  disabled?: boolean;
}

/** An entry of `mcpServers` that names an address; `type: "sse"` is the transport of 2024. */
export interface McpUrlConfig {
  type?: string;
  url: string;
  headers?: Record<string, string>;
  disabled?: boolean;
}

export type McpServerConfig = McpCommandConfig | McpUrlConfig;

/** The `mcpServers` JSON of Claude Desktop, Cursor and others, and of `.mcp.json`. */
export interface McpConfig {
  mcpServers: Record<string, McpServerConfig>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The entry of a server with its variables filled in. */
export type ResolvedServer =
  | { kind: "command"; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined }
  | { kind: "url"; url: URL; headers: Record<string, string>; sse: boolean };

/**
 * Reads one entry of `mcpServers`. `${NAME}` and `${NAME:-fallback}` are filled in from `environment`, as in Claude Code.
 * Throws an McpError (`invalid_config`) that names the problem.
 */
export function resolveServer(name: string, entry: unknown, environment: Environment): ResolvedServer {
  const invalid = (problem: string): McpError =>
    new McpError("invalid_config", name, `MCP server ${shownName(name)}: ${problem}`, { problem });
  const expand = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_match, variable: string, fallback?: string) => {
      const value = environment[variable] ?? fallback;
      if (value === undefined) throw invalid(`the environment variable ${variable} is not set`);
      return value;
    });
  const text = (value: unknown, key: string): string => {
    if (typeof value === "string" && value !== "") return expand(value);
    throw invalid(`${key} must be a non-empty string`);
  };
  const texts = (value: unknown, key: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(record(value)).map(([field, item]) => {
        if (!["string", "number", "boolean"].includes(typeof item)) throw invalid(`${key}.${field} must be a string`);
        return [field, expand(String(item))];
      }),
    );
  const { type, command, args = [], env, cwd, url, headers, disabled = false } = record(entry);
  if (typeof disabled !== "boolean") throw invalid("disabled must be true or false");
  const misspelt = Object.keys(record(entry)).find((key) => key !== "disabled" && key.toLowerCase() === "disabled");
  if (misspelt !== undefined) throw invalid(`${misspelt} has no effect; write it as disabled`);
  if (url !== undefined && command !== undefined) throw invalid("it has both a command and a url; keep one");
  if (url !== undefined) {
    const address = URL.parse(text(url, "url"));
    if (!address || !/^https?:$/.test(address.protocol)) throw invalid("url must be an http or https address");
    return { kind: "url", ...withoutUser(address, texts(headers, "headers")), sse: type === "sse" };
  }
  if (command === undefined) throw invalid("it needs a command (and args) or a url");
  if (!Array.isArray(args) || !args.every((item) => typeof item === "string")) {
    throw invalid("args must be an array of strings");
  }
  return {
    kind: "command",
    command: text(command, "command"),
    args: args.map(expand),
    env: texts(env, "env"),
    cwd: cwd === undefined ? undefined : text(cwd, "cwd"),
  };
}

/** Moves user and password into a header: `fetch` refuses an address with them, and its error quotes it. */
function withoutUser(address: URL, headers: Record<string, string>): { url: URL; headers: Record<string, string> } {
  const { username, password } = address;
  if (username === "" && password === "") return { url: address, headers };
  const url = new URL(address);
  url.username = url.password = "";
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return { url, headers };
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { url, headers: { ...headers, Authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

function decoded(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text;
}

/** Returns the entries of an `mcpServers` JSON that are not disabled, in order. Throws a TypeError for anything else. */
export function serverEntries(config: unknown): [name: string, entry: unknown][] {
  const { mcpServers } = record(config);
  if (!isObject(mcpServers)) {
    throw new TypeError('expected { "mcpServers": { NAME: { "command": … } or { "url": … } } }');
  }
  return Object.entries(mcpServers).filter(([, entry]) => record(entry).disabled !== true);
}

/** Tells whether an entry was edited, without keeping the secrets in it. */
export function configDigest(entry: unknown): string {
  // Not imported: node:crypto takes 8 ms to load.
  return process
    .getBuiltinModule("node:crypto")
    .createHash("sha256")
    .update(JSON.stringify(entry) ?? "")
    .digest("hex");
}
