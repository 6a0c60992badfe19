import { redactKeys } from "./redact.ts";

/** With `TOOLCRIB_DEBUG=1` each request goes to standard error as one line, keys redacted. */
export function debugRequest(provider: string, body: unknown, secrets: readonly string[]): void {
  if (process.env.TOOLCRIB_DEBUG !== "1") return;
  process.stderr.write(`[toolcrib] ${provider} request ${redactKeys(JSON.stringify(body), secrets)}\n`);
}
