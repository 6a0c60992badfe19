import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPathScope, systemErrorCode, withFileLock, writeAtomically } from "@toolcrib/core/files";
import type { McpConfig, McpServerConfig } from "@toolcrib/mcp";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { makeStateFolder, stateName } from "../state/stateFolder.ts";
import { oneLine } from "../terminal/render.ts";
import type { Asker } from "./approval.ts";
import { mcpConfigName } from "./mcpConfigName.ts";
import { describeServer } from "./mcpDescribe.ts";

/** Digest of each entry of a folder's `.mcp.json` that the user has allowed to start, by its name. */
type Consents = ReadonlyMap<string, string>;

/** Whether an entry is allowed to start as it is; `changed`: an earlier form of it is. */
type Consent = "allowed" | "changed" | "new";

const consentFolder = "consents";

/** What the user has allowed of a directory's servers. It lies outside that directory, which may be somebody else's. */
export function readConsents(directory: string, env: NodeJS.ProcessEnv): Consents {
  let text = "";
  try {
    text = readFileSync(join(makeStateFolder(env, consentFolder), `${stateName(directory)}.json`), "utf8");
  } catch (error) {
    if (!systemErrorCode(error)) throw error;
  }
  return parseConsents(text);
}

/** What cannot be read allows nothing. */
function parseConsents(text: string): Consents {
  try {
    return new Map(Object.entries(JSON.parse(text).servers as Record<string, string>));
  } catch {
    return new Map();
  }
}

export function consentTo(consents: Consents, name: string, entry: unknown): Consent {
  const digest = consents.get(name);
  return digest === undefined ? "new" : digest === digestOf(entry) ? "allowed" : "changed";
}

/** Keeps that the user allowed these entries as they are; an entry that is undefined is forgotten. */
export async function saveConsents(
  directory: string,
  env: NodeJS.ProcessEnv,
  entries: Readonly<Record<string, unknown>>,
): Promise<void> {
  const folder = makeStateFolder(env, consentFolder);
  const scope = createPathScope({ root: folder, cwd: folder });
  const path = join(scope.cwd, `${stateName(directory)}.json`);
  await withFileLock(`${path}.lock`, async () => {
    const servers = new Map(readConsents(directory, env));
    for (const [name, entry] of Object.entries(entries)) {
      if (entry === undefined) servers.delete(name);
      else servers.set(name, digestOf(entry));
    }
    await writeAtomically(path, `${JSON.stringify({ directory, servers: Object.fromEntries(servers) }, null, 2)}\n`, {
      scope,
    });
  });
}

/** As `saveConsents`, with a note where that fails: what was done stands without it. */
export async function keepConsents(
  { env, terminal }: Program,
  entries: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    await saveConsents(process.cwd(), env, entries);
  } catch (error) {
    terminal.note(
      terminal.style.dim(`What you allowed could not be kept for the next time: ${(error as Error).message}`),
    );
  }
}

/**
 * The servers that may be started: those allowed as they are, and those that the user allows now. Nothing has been started and no
 * `${NAME}` filled in before. Throws where there is nobody to ask.
 */
export async function allowedServers(
  config: McpConfig,
  program: Program,
  asker: Asker | undefined,
): Promise<McpConfig> {
  const directory = process.cwd();
  const consents = readConsents(directory, program.env);
  const servers = Object.entries(config.mcpServers).filter(([, entry]) => entry.disabled !== true);
  const waiting = servers.filter(([name, entry]) => consentTo(consents, name, entry) !== "allowed");
  if (waiting.length > 0 && !asker) throw notAllowed(waiting.map(([name]) => name));
  const refused = new Set<string>();
  for (const [name, entry] of waiting) {
    const isChanged = consentTo(consents, name, entry) === "changed";
    if (asker && (await isAllowed(asker, name, entry, isChanged))) await keepConsents(program, { [name]: entry });
    else refused.add(name);
  }
  return { mcpServers: Object.fromEntries(servers.filter(([name]) => !refused.has(name))) };
}

async function isAllowed(asker: Asker, name: string, entry: McpServerConfig, isChanged: boolean): Promise<boolean> {
  const { columns, rows } = asker.size;
  const description = describeServer(name, entry);
  const used = description.split("\n").reduce((sum, line) => sum + Math.ceil((2 * line.length) / columns), 0);
  if (used > Math.max(2 * rows, 20)) {
    const message = `${mcpConfigName}: ${oneLine(name, 64)} is too long to show on this screen, so it is not asked about; read it in the file, then run toolcrib mcp allow NAME`;
    throw new CliError("denied", message);
  }
  const state = isChanged ? "has changed since it was allowed" : "is not allowed yet";
  const answer = await asker.ask(
    `A server in ${mcpConfigName} of this folder ${state}:\n${description}\nStart it, now and whenever --mcp is given here? [y]es, [N]o: `,
    undefined,
  );
  if (answer === undefined) throw new CliError("denied", "The question was not answered.");
  return /^y(es)?$/i.test(answer.trim());
}

function notAllowed(names: readonly string[]): CliError {
  const [first = "", ...more] = names;
  const which = more.length === 0 ? `${first} is` : `${names.join(", ")} are`;
  return new CliError(
    "denied",
    `${mcpConfigName}: ${which} not allowed to start as the file has it now, and there is no terminal to ask on; look with toolcrib mcp list, then toolcrib mcp allow ${first}`,
  );
}

function digestOf(entry: unknown): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(JSON.stringify(entry)).digest("hex");
}
