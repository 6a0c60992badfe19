import { showInvisible } from "@toolcrib/core/text";
import { isSecret, redacted, redactUrls } from "@toolcrib/kit/text";
import { type Environment, type McpServerConfig, resolveServer } from "../client/serverConfig.ts";

/** Describes what an entry of `.mcp.json` would start or connect to, leaving out nothing that matters for the decision. */
export function describeServer(name: string, entry: McpServerConfig): string {
  const lines = "url" in entry ? urlLines(name, entry) : commandLines(name, entry);
  const uses = variablesOf(entry).map(({ variable, field }) => `${variable} (into ${field})`);
  if (uses.length > 0) lines.push(`  is given from your environment: ${uses.join(", ")}`);
  return lines.map(showInvisible).join("\n");
}

function urlLines(name: string, { url, headers = {} }: Extract<McpServerConfig, { url: string }>): string[] {
  const lines = [`  ${name} connects to ${redactUrls(String(url))}`];
  const names = Object.keys(headers);
  if (names.length > 0) lines.push(`  with the headers ${names.join(", ")}`);
  return lines;
}

function commandLines(name: string, entry: Exclude<McpServerConfig, { url: string }>): string[] {
  const { command, args = [], env = {}, envFile, cwd } = entry;
  if (typeof command !== "string" || command === "") return [`  ${name} has neither a command nor a url`];
  const lines = [`  ${name} runs ${[command, ...args].map(word).join(" ")}`];
  if (cwd !== undefined) lines.push(`  in ${word(cwd)}`);
  if (envFile !== undefined) lines.push(`  with the variables of the file ${word(envFile)}`);
  for (const [variable, value] of Object.entries(env)) lines.push(`  with ${variable}=${word(value)}`);
  return lines;
}

function word(value: unknown): string {
  const text = String(value);
  return /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}

/** Lists the environment variables that an entry asks for, and where. */
function variablesOf(entry: object, path = ""): { variable: string; field: string }[] {
  return Object.entries(entry).flatMap(([key, value]: [string, unknown]) => {
    const field = path === "" ? key : `${path}.${key}`;
    if (typeof value === "object" && value !== null) return variablesOf(value, field);
    return [...String(value).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)(?=\}|:-)/g)].map(([, variable = ""]) => ({
      variable,
      field,
    }));
  });
}

/** `${NAME}` or `${env:NAME}` alone: a variable that is filled in later. */
const isReference = /^\$\{(?:env:)?\w+\}$/;

/** Returns an entry of `.mcp.json` as listings show it: without the values of variables and headers, and without what looks like a key. */
export function redactServer(entry: McpServerConfig): McpServerConfig {
  if ("url" in entry) {
    const { url, headers } = entry;
    return { ...entry, url: redactUrls(String(url)), ...(headers && { headers: hideValues(headers) }) };
  }
  const { command, args, env } = entry;
  return {
    ...entry,
    command: redactUrls(String(command ?? "(no command)")),
    ...(Array.isArray(args) && { args: args.map((word, index) => hideWord(String(word), args[index - 1])) }),
    ...(env && { env: hideValues(env) }),
  };
}

function hideValues(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hide(String(value))]));
}

/** Hides the value in `--token VALUE`, `--token=VALUE`, `TOKEN=VALUE`, and a word that looks like a key. */
function hideWord(word: string, before: unknown): string {
  const isName = /^-/.test(word) && !word.includes("=");
  if (typeof before === "string" && /^-[^=]*$/.test(before) && isSecret(before, "") && !isName) return hide(word);
  const [, name, value] = /^([^=]*?)=(.*)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined && isSecret(name, value)) return `${name}=${hide(value)}`;
  const shown = redactUrls(word);
  return isSecret("", shown) ? hide(shown) : shown;
}

function hide(value: string): string {
  return isReference.test(value) ? value : redacted;
}

/**
 * Returns the address of an entry, its variables filled in; undefined for an entry that starts a process. Throws an McpError
 * (`invalid_config`).
 */
export function serverAddress(
  name: string,
  entry: McpServerConfig,
  environment: Environment = process.env,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } | undefined {
  const target = resolveServer(name, entry, environment);
  return target.kind === "url" ? { url: target.url, headers: target.headers } : undefined;
}
