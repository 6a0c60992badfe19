import { oneLine } from "@toolcrib/core/internal";
import type { McpConfig } from "@toolcrib/mcp";
import {
  allowedServers as allowed,
  describeServer,
  fileConsents,
  isMcpError,
  type McpConsentQuestion,
  type McpConsents,
  mcpConfigName,
} from "@toolcrib/mcp/config";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import type { Folders } from "../state/folders.ts";
import { type Asker, askYesNo } from "../terminal/ask.ts";
import { shellWord } from "../terminal/question.ts";
import { ownLogins } from "./ownLogins.ts";

/** Opens the user's consents to this directory's servers, with a note where nothing can be saved: what was done stands without it. */
export function notedConsents({ terminal, trust, cwd }: Pick<Program, "trust" | "cwd" | "terminal">): McpConsents {
  const consents = fileConsents(trust, cwd);
  return {
    read: consents.read,
    save: (entries) =>
      consents.save(entries).catch((error: Error) => {
        terminal.aside(`Your answer could not be saved for the next time: ${error.message}`);
      }),
  };
}

/**
 * Returns the servers that may be started: those allowed as they are, and those that the user allows now. One that would stand in
 * for a server of the user's `own` says so. Throws where there is nobody to ask.
 */
export async function allowedServers(
  config: McpConfig,
  program: Program,
  asker: Asker | undefined,
  own: McpConfig = { mcpServers: {} },
): Promise<McpConfig> {
  try {
    return await allowed(
      config,
      notedConsents(program),
      asker && ((question) => isAllowed(asker, question, own, program.folders)),
    );
  } catch (error) {
    if (!isMcpError(error) || error.code !== "not_allowed") throw error;
    const advice = `and there is no terminal to ask on; look with toolcrib mcp list, then toolcrib mcp allow ${shellWord(error.server)}`;
    throw new CliError("denied", `${error.message}, ${advice}`);
  }
}

async function isAllowed(
  asker: Asker,
  { name, entry, consent }: McpConsentQuestion,
  { mcpServers: own }: McpConfig,
  folders: Folders,
): Promise<boolean> {
  const stands = Object.hasOwn(own, name) ? "\n  in place of your own server of that name" : "";
  const isLoggedIn = "url" in entry && URL.canParse(entry.url) && (await ownLogins(folders).load(new URL(entry.url)));
  const login = isLoggedIn ? "\n  with your login there" : "";
  const description = `${describeServer(name, entry)}${login}${stands}`;
  const state = consent === "changed" ? "has changed since it was allowed" : "is not allowed yet";
  return askYesNo(asker, {
    lines: [`A server in ${mcpConfigName} of this folder ${state}:`, ...description.split("\n")],
    question: "Start it, now and in later conversations here?",
    tooLong: [
      `${mcpConfigName}: ${oneLine(name, 64)} is too long`,
      "read it in the file, then run toolcrib mcp allow NAME",
    ],
  });
}
