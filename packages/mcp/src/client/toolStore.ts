import { isBelowAny } from "@toolcrib/kit/files";
import { type ListedTool, record } from "../mapping.ts";
import { ownRecords } from "../ownRecords.ts";
import { workingFolder } from "./transport/serverProgram.ts";

/** A tool as it was accepted. */
export interface KnownTool extends ListedTool {
  /** No longer listed; kept so that a change is noticed when it comes back. */
  readonly gone?: true;
}

/** The record of a server that is kept between runs. */
export interface KnownServer {
  /** Digest of the entry of the server. When it differs, the server is asked for its tools again. */
  config: string;
  tools: KnownTool[];
  /** Keeps the server's instructions as they were accepted; "" if there were none. */
  instructions?: string | undefined;
  /** Digest of the problems that were told with these tools; a later run does not repeat them. */
  told?: string | undefined;
}

/**
 * Keeps what is known about servers, by name. Only the user may be able to write it, because it decides which tools are
 * accepted.
 */
export interface McpToolStore {
  load(server: string): Promise<KnownServer | undefined>;
  save(server: string, known: KnownServer): Promise<void>;
}

/**
 * Makes a store in one JSON file that only the user can read. A file with other content counts as empty. Processes that save at the
 * same time wait for each other. Throws a TypeError for a path below the working folder, where the tools of an agent may write.
 * Loading and saving reject when somebody else may have written the file: when it is a link, belongs to another user, or can be
 * written by others.
 */
export function fileToolStore(path: string): McpToolStore {
  const working = workingFolder();
  if (working !== undefined && isBelowAny(path, [working])) {
    throw new TypeError(
      "fileToolStore: the path is below the working folder, where an agent's tools may write; keep it elsewhere, below your " +
        "home directory for example",
    );
  }
  const servers = ownRecords(path, "servers", { what: "the accepted tools" });
  return {
    async load(server) {
      const { config, tools, instructions, told } = record(await servers.get(server));
      if (typeof config !== "string" || !Array.isArray(tools)) return undefined;
      return {
        config,
        tools: tools.filter((tool): tool is KnownTool => typeof record(tool).name === "string"),
        ...(typeof instructions === "string" && { instructions }),
        ...(typeof told === "string" && told !== "" && { told }),
      };
    },
    save: (server, known) => servers.set(server, known),
  };
}
