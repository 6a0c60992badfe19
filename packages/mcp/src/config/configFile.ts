import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "@toolcrib/core/text";
import {
  createPathScope,
  ownFile,
  readGivenFile,
  systemErrorCode,
  withFileLock,
  writeAtomically,
} from "@toolcrib/kit/files";
import type { McpConfig, McpServerConfig } from "../client/serverConfig.ts";
import { badConfigFile } from "./configErrors.ts";
import { mcpConfigName } from "./configName.ts";

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

const maxMegabytes = 1;

/** Loads the parser when a file is read: what only asks for a name or a consent does not need its parser. */
const loadText = (): Promise<typeof import("./configText.ts")> => import("./configText.ts");

/** Sets one value in JSON with comments, or removes it where `value` is undefined; the rest stays as it is written. */
export async function editJson(text: string, path: readonly string[], value?: unknown): Promise<string> {
  const { withoutValue, withValue } = await import("./editText.ts");
  return value === undefined ? withoutValue(text, path) : withValue(text, path, value);
}

/** Returns the `.mcp.json` of a directory. */
export function projectConfigFile(directory: string): McpConfigFile {
  const name = mcpConfigName;
  const given = { what: name, maxMegabytes, toError: (message: string) => badConfigFile(name, message) };
  return {
    name,
    async read() {
      const { parseConfig } = await loadText();
      return withPlaces(parseConfig((await readGivenFile(join(directory, name), given)) ?? "{}", name), directory);
    },
    async change(server, change) {
      const { changeConfig } = await loadText();
      const scope = createPathScope({ root: directory, cwd: directory });
      const path = await scope.resolve(name);
      await withFileLock(join(dirname(path), `${name}.lock`), async () => {
        const text = changeConfig(await readGivenFile(path, given), server, change, name);
        await writeAtomically(path, text, { scope });
      });
    },
  };
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

/** Returns the user's own file of servers, which needs no consent: it must belong to the user, and nobody else may be able to write it. */
export function userConfigFile(path: string): McpConfigFile {
  const file = ownFile(path, { what: "your own MCP servers", maxBytes: maxMegabytes * 2 ** 20 });
  const text = async (): Promise<string | undefined> => {
    try {
      return await file.read();
    } catch (error) {
      const code = systemErrorCode(error);
      throw badConfigFile(path, `${path}: ${code ? `it cannot be read (${code})` : messageOf(error)}`);
    }
  };
  return {
    name: path,
    async read() {
      const { parseConfig } = await loadText();
      return withPlaces(parseConfig((await text()) ?? "{}", path), dirname(path));
    },
    async change(server, change) {
      const { changeConfig } = await loadText();
      await text();
      await file.change((found) => changeConfig(found, server, change, path));
    },
  };
}
