import { dirname, isAbsolute, join } from "node:path";
import { nearestName } from "@toolcrib/core/internal";
import { clip, isObject, messageOf } from "@toolcrib/core/text";
import {
  createPathScope,
  OwnFile,
  readGivenFile,
  systemErrorCode,
  withFileLock,
  writeAtomically,
} from "@toolcrib/kit/files";
import { byteOrderMark, parseJson, withoutComments } from "@toolcrib/kit/text";
import type { McpConfig, McpServerConfig } from "../client/serverConfig.ts";
import { McpError } from "../errors.ts";

/** A file that names MCP servers. Its methods reject with an McpError (`bad_config_file`) where its content is not valid. */
export interface McpConfigFile {
  /** Its name in messages. */
  readonly name: string;
  /** Reads the servers; without a file there are none. */
  read(): Promise<McpConfig>;
  /**
   * Changes one entry, or removes it where `change` returns nothing, and leaves the rest of the file as it is written: comments,
   * order, indentation. Two programs that do so at once wait for each other.
   */
  change(server: string, change: (config: McpConfig) => McpServerConfig | undefined): Promise<void>;
}

/** The file in which a directory names its MCP servers. */
export const mcpConfigName = ".mcp.json";
const maxMegabytes = 1;

/** Loads the editor when a file is changed: reading one does not need its parser. */
const loadEdit = (): Promise<typeof import("./editText.ts")> => import("./editText.ts");

/** Sets one value in JSON with comments, or removes it where `value` is undefined; the rest stays as it is written. */
export async function editJson(text: string, path: readonly string[], value?: unknown): Promise<string> {
  const { withoutValue, withValue } = await loadEdit();
  return value === undefined ? withoutValue(text, path) : withValue(text, path, value);
}

/** Returns the `.mcp.json` of a directory. */
export function projectConfigFile(directory: string): McpConfigFile {
  const name = mcpConfigName;
  const given = { what: name, maxMegabytes, toError: (message: string) => badConfigFile(name, message) };
  return configFile(name, directory, {
    read: () => readGivenFile(join(directory, name), given),
    async change(change) {
      const scope = createPathScope({ root: directory, cwd: directory });
      const path = await scope.resolve(name);
      await withFileLock(join(dirname(path), `${name}.lock`), async () => {
        await writeAtomically(path, change(await readGivenFile(path, given)), { scope });
      });
    },
  });
}

/** Returns the user's own file of servers, which needs no consent: it must belong to the user, and nobody else may be able to write it. */
export function userConfigFile(path: string): McpConfigFile {
  const file = new OwnFile(path, { what: "your own MCP servers", maxBytes: maxMegabytes * 2 ** 20 });
  const read = async (): Promise<string | undefined> => {
    try {
      return await file.read();
    } catch (error) {
      const code = systemErrorCode(error);
      throw badConfigFile(path, `${path}: ${code ? `it cannot be read (${code})` : messageOf(error)}`);
    }
  };
  return configFile(path, dirname(path), {
    read,
    async change(change) {
      await read();
      await file.change(change);
    },
  });
}

/** Reads and changes a file; the text is undefined if it is not there. */
interface TextFile {
  read(): Promise<string | undefined>;
  change(change: (found: string | undefined) => string): Promise<unknown>;
}

function configFile(name: string, folder: string, file: TextFile): McpConfigFile {
  return {
    name,
    read: async () => withPlaces(parseConfig((await file.read()) ?? "{}", name), folder),
    async change(server, change) {
      const edit = await loadEdit();
      await file.change((found) => {
        const text = found ?? "{\n}\n";
        const path = ["mcpServers", server];
        const entry = change(parseEntries(text, name));
        const changed = entry === undefined ? edit.withoutValue(text, path) : edit.withValue(text, path, entry, true);
        if (JSON.stringify(parseEntries(changed, name).mcpServers[server]) === JSON.stringify(entry)) return changed;
        throw badConfigFile(name, `${name}: it has a key twice, so ${server} cannot be changed; correct it first`);
      });
    },
  };
}

/** Parses the text of a configuration: JSON with comments. */
function parseConfig(text: string, file: string): McpConfig {
  const config = parseEntries(text, file);
  const wrong = Object.entries(config.mcpServers).find(([, entry]) => !isObject(entry));
  if (!wrong) return config;
  const entry = JSON.stringify(clip(wrong[0], 80));
  throw badConfigFile(file, `${file}: the entry ${entry} is not an object; correct or remove it`);
}

/** Parses entries. Each may be anything: one that is wrong can still be removed. */
function parseEntries(text: string, file: string): McpConfig {
  const toError = (message: string): Error => badConfigFile(file, message);
  // Not parsed by jsonc-parser: there a key `__proto__` would give an entry fields that its digest does not cover.
  const config = parseJson(withoutComments(text.replace(byteOrderMark, " ")), file, toError);
  const mcpServers = isObject(config) ? (config.mcpServers === undefined ? {} : config.mcpServers) : undefined;
  if (isObject(mcpServers)) return { mcpServers: mcpServers as Record<string, McpServerConfig> };
  throw toError(`${file}: expected { "mcpServers": { NAME: { … } } }; correct it or move it away`);
}

/** Writes out each `envFile`, which is relative to the folder of its JSON; one that begins with a variable is relative to nothing. */
function withPlaces({ mcpServers }: McpConfig, folder: string): McpConfig {
  const entries = Object.entries(mcpServers).map(([name, entry]) => {
    const envFile: unknown = "envFile" in entry ? entry.envFile : undefined;
    const isRelative =
      typeof envFile === "string" && envFile !== "" && !isAbsolute(envFile) && !envFile.startsWith("${");
    return [name, isRelative ? { ...entry, envFile: join(folder, envFile) } : entry] as const;
  });
  return { mcpServers: Object.fromEntries(entries) };
}

/** Makes the error of a file. `message` begins with its name. */
function badConfigFile(file: string, message: string): McpError<"bad_config_file"> {
  return new McpError("bad_config_file", "", message, { file });
}

/** Throws an McpError (`unknown_server`) for a server that is not among those of a file. */
export function requireServer(servers: Readonly<Record<string, unknown>>, name: string, file: string): void {
  if (Object.hasOwn(servers, name)) return;
  const names = Object.keys(servers);
  const nearest = nearestName(name, names);
  const known = names.length > 0 ? `there are ${names.join(", ")}` : "there are none";
  const message = `${name} is not in ${file}; ${nearest ? `did you mean ${nearest}?` : known}`;
  throw new McpError("unknown_server", name, message, { file });
}
