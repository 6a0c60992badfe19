import { attempt, nearestName } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { McpError, shownName } from "../errors.ts";
import { record } from "../mapping.ts";
import { type Protocol, protocolForms, readProtocol } from "./protocol.ts";
import { listKeys, readToolLists, type ToolLists } from "./toolLists.ts";

/** The settings of any entry. */
export interface McpCommonConfig {
  type?: string;
  disabled?: boolean;
  /** The revision to speak: `legacy`, `auto` or its date. Default: the older ones, unless the server speaks only newer ones. */
  protocol?: string;
  /** The server's own names of the tools that are let in; `*` stands for any characters. Each list that is there must name a tool. */
  includeTools?: string[];
  tools?: string[];
  allowedTools?: string[];
  /** Tools that are kept out, also where they are let in. */
  excludeTools?: string[];
  disabledTools?: string[];
}

/** An entry of `mcpServers` that starts a process. */
export interface McpCommandConfig extends McpCommonConfig {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  /** A file of variables, relative to the folder of the JSON; `env` wins. */
  envFile?: string;
  cwd?: string;
}

/** An entry of `mcpServers` that names an address; `type: "sse"` is the transport of 2024. */
export interface McpUrlConfig extends McpCommonConfig {
  url: string;
  headers?: Record<string, string>;
}

export type McpServerConfig = McpCommandConfig | McpUrlConfig;

/** The `mcpServers` JSON of Claude Desktop, Cursor and others, and of `.mcp.json`. */
export interface McpConfig {
  mcpServers: Record<string, McpServerConfig>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The entry of a server with its variables filled in. */
export type ResolvedServer = {
  protocol?: Protocol | undefined;
  lists: ToolLists;
  /** Settings without effect, a sentence each. */
  unused: readonly string[];
} & (
  | {
      kind: "command";
      command: string;
      args: string[];
      env: Record<string, string>;
      envFile?: string | undefined;
      cwd: string | undefined;
    }
  // Without `sse` the entry does not say which transport it means.
  | { kind: "url"; url: URL; headers: Record<string, string>; sse?: boolean | undefined }
);

/** Matches `${…}`, and within it `NAME`, `env:NAME`, and either with `:-fallback`. */
const placeholder = /\$\{([^}]*)\}/g;
const variableName = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;

/** Makes the error for an entry that cannot be used. */
export function invalidEntry(name: string, problem: string): McpError<"invalid_config"> {
  return new McpError("invalid_config", name, `MCP server ${shownName(name)}: ${problem}`, { problem });
}

/**
 * Reads one entry of `mcpServers`. `${NAME}`, `${env:NAME}` and `${NAME:-fallback}` are filled in from `environment`.
 * Throws an McpError (`invalid_config`) that names the problem.
 */
export function resolveServer(name: string, entry: unknown, environment: Environment): ResolvedServer {
  const invalid = (problem: string): McpError => invalidEntry(name, problem);
  const unused = unusedSettings(record(entry));
  const expand = (text: string): string =>
    text.replace(placeholder, (match, inner: string) => {
      const [, variable, fallback] = variableName.exec(inner) ?? [];
      if (variable === undefined) {
        unused.push(`${shownName(match)} is not filled in; only variables of the environment are, as \${NAME}`);
        return match;
      }
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
  const { type, command, args = [], env, envFile, cwd, url, headers, disabled = false, protocol } = record(entry);
  if (typeof disabled !== "boolean") throw invalid("disabled must be true or false");
  const misspelt = Object.entries(record(entry)).find(
    ([key, value]) =>
      (key !== "disabled" && key.toLowerCase() === "disabled") || (key === "enabled" && value === false),
  );
  if (misspelt) throw invalid(`${misspelt[0]} has no effect; write it as disabled`);
  const lists = readToolLists(record(entry), invalid);
  const spoken = readProtocol(protocol);
  if (spoken === null) throw invalid(`protocol must be ${protocolForms}`);
  if (url !== undefined && command !== undefined) throw invalid("it has both a command and a url; keep one");
  if (url !== undefined) {
    const address = URL.parse(text(url, "url"));
    if (!address || !/^https?:$/.test(address.protocol)) throw invalid("url must be an http or https address");
    const sse = type === undefined ? undefined : type === "sse";
    return { kind: "url", ...withoutUser(address, texts(headers, "headers")), sse, protocol: spoken, lists, unused };
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
    envFile: envFile === undefined ? undefined : text(envFile, "envFile"),
    protocol: spoken,
    lists,
    unused,
  };
}

const commonKeys = ["type", "disabled", "protocol", ...listKeys];
const keysOf = {
  command: ["command", "args", "env", "envFile", "cwd", ...commonKeys],
  url: ["url", "headers", ...commonKeys],
};
const typesOf = { command: ["stdio", "local"], url: ["http", "streamable-http", "streamableHttp", "remote", "sse"] };

/** Lists the settings of an entry that have no effect here. */
function unusedSettings(entry: Record<string, unknown>): string[] {
  const kind = entry.url === undefined ? "command" : "url";
  const known = keysOf[kind];
  const { type } = entry;
  const isOdd = type !== undefined && !typesOf[kind].includes(String(type));
  return [
    ...Object.keys(entry).flatMap((key) => {
      if (known.includes(key)) return [];
      const nearest = nearestName(key, known);
      return `${shownName(key)} has no effect${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
    }),
    ...(isOdd
      ? [`type ${shownName(String(type))} has no effect for a ${kind}; write ${typesOf[kind][0]}, or leave it out`]
      : []),
  ];
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
