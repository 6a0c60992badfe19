import { showInvisible } from "@toolcrib/core/text";
import { redactUrls } from "@toolcrib/kit/text";
import type { McpServerConfig } from "../client/serverConfig.ts";

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
  const { command, args = [], env = {}, cwd } = entry;
  if (typeof command !== "string" || command === "") return [`  ${name} has neither a command nor a url`];
  const lines = [`  ${name} runs ${[command, ...args].map(word).join(" ")}`];
  if (cwd !== undefined) lines.push(`  in ${word(cwd)}`);
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
    return [...String(value).matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, variable = ""]) => ({ variable, field }));
  });
}
