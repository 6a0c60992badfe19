import { isSecret, redacted, redactUrls } from "@toolcrib/kit/text";
import type { McpServerConfig } from "../client/serverConfig.ts";

/** `${NAME}` alone: a variable that is filled in later. */
const isReference = /^\$\{\w+\}$/;

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

/** `--token VALUE`, `--token=VALUE`, `TOKEN=VALUE`, and a word that looks like a key. */
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
