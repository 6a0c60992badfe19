import { type TrustStore, trustStore } from "@toolcrib/kit/files";
import { configDigest, type McpConfig, type McpServerConfig } from "../client/serverConfig.ts";
import { McpError } from "../errors.ts";
import { mcpConfigName } from "./configFile.ts";

/** The user's consent to start an entry as it is; `changed`: an earlier form of it is allowed. */
export type McpConsent = "allowed" | "changed" | "new";

/** The entries of a directory's `.mcp.json` that its user has allowed to start. */
export interface McpConsents {
  /** Reads consents by the name of the entry. What cannot be read allows nothing. */
  read(config: McpConfig): Promise<ReadonlyMap<string, McpConsent>>;
  /** Keeps that the user allowed these entries as they are; an entry that is undefined is forgotten. */
  save(entries: Readonly<Record<string, McpServerConfig | undefined>>): Promise<void>;
}

/**
 * Consents in a JSON file or a store, which holds a digest of each entry. It must lie outside the directory, which may be somebody else's,
 * and counts only where nobody but the user can write it.
 */
export function fileConsents(file: string | TrustStore, directory: string): McpConsents {
  const store = typeof file === "string" ? trustStore(file) : file;
  const kindOf = (name: string): string => `server ${name}`;
  return {
    async read({ mcpServers }) {
      const consents = Object.entries(mcpServers).map(async ([name, entry]): Promise<[string, McpConsent]> => {
        const trust = await store.of(kindOf(name), directory, configDigest(entry));
        return [name, trust === "trusted" ? "allowed" : trust === "changed" ? "changed" : "new"];
      });
      return new Map(await Promise.all(consents));
    },
    async save(entries) {
      for (const [name, entry] of Object.entries(entries))
        await store.save(kindOf(name), directory, entry && configDigest(entry));
    },
  };
}

/** A server that its user is asked about. */
export interface McpConsentQuestion {
  readonly name: string;
  readonly entry: McpServerConfig;
  readonly consent: "changed" | "new";
}

/**
 * Returns the servers that may be started: those allowed as they are, and those that the user allows now. Nothing has been started and no
 * `${NAME}` filled in before. Who can ask nobody passes no `ask`: then it throws an McpError (`not_allowed`) that names the servers.
 */
export async function allowedServers(
  config: McpConfig,
  consents: McpConsents,
  ask?: (question: McpConsentQuestion) => Promise<boolean>,
): Promise<McpConfig> {
  const known = await consents.read(config);
  const servers = Object.entries(config.mcpServers).filter(([, entry]) => entry.disabled !== true);
  const waiting = servers.filter(([name]) => known.get(name) !== "allowed");
  if (waiting.length > 0 && !ask) throw notAllowed(waiting.map(([name]) => name));
  const refused = new Set<string>();
  for (const [name, entry] of waiting) {
    const consent = known.get(name) === "changed" ? "changed" : "new";
    if (await ask?.({ name, entry, consent })) await consents.save({ [name]: entry });
    else refused.add(name);
  }
  return { mcpServers: Object.fromEntries(servers.filter(([name]) => !refused.has(name))) };
}

function notAllowed(names: readonly string[]): McpError<"not_allowed"> {
  const [first = "", ...more] = names;
  const which = more.length === 0 ? `${first} is` : `${names.join(", ")} are`;
  const message = `${mcpConfigName}: ${which} not allowed to start with its present entry`;
  return new McpError("not_allowed", first, message, { names });
}
