import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ensureDirectory } from "@toolcrib/core/files";
import { type ListedTool, record } from "./mapping.ts";

/** A tool as it was accepted. */
export interface KnownTool extends ListedTool {
  /** Not listed any more; remembered for the day it comes back. */
  readonly gone?: true;
}

/** What is kept of a server from run to run: the tools as they were accepted. */
export interface KnownServer {
  /** Digest of the server's entry; another one means that it has to be asked anew. */
  config: string;
  tools: KnownTool[];
}

/** Keeps what is known of servers, by their name. A store must be the user's own: a server's tools are trusted by it. */
export interface McpToolStore {
  load(server: string): Promise<KnownServer | undefined>;
  save(server: string, known: KnownServer): Promise<void>;
}

/** A store in one JSON file, made when first written. A file that is no such JSON counts as empty. */
export function fileToolStore(path: string): McpToolStore {
  let last: Promise<unknown> = Promise.resolve();
  const readAll = async (): Promise<Record<string, unknown>> => {
    try {
      return record(record(JSON.parse(await readFile(path, "utf8"))).servers);
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  };
  const write = async (server: string, known: KnownServer): Promise<void> => {
    const servers = { ...(await readAll()), [server]: known };
    ensureDirectory(dirname(path));
    const temporary = `${path}.${randomUUID()}`;
    try {
      await writeFile(temporary, `${JSON.stringify({ servers }, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  };
  return {
    async load(server) {
      const all = await readAll();
      if (!Object.hasOwn(all, server)) return undefined;
      const { config, tools } = record(all[server]);
      if (typeof config !== "string" || !Array.isArray(tools)) return undefined;
      return { config, tools: tools.filter((tool): tool is KnownTool => typeof record(tool).name === "string") };
    },
    save(server, known) {
      // One after the other: two writes at once would lose one server.
      const run = last.then(() => write(server, known));
      last = run.catch(() => undefined);
      return run;
    },
  };
}
