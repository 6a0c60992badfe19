import { AgentError } from "../../errors.ts";
import { redact } from "../errors/redact.ts";
import { environment } from "./options.ts";

const ollamaPort = "11434";

/**
 * Returns the address of Ollama. `OLLAMA_HOST` may be `host`, `host:port` or a URL; 0.0.0.0, on which Ollama may listen, becomes
 * 127.0.0.1. Throws `invalid_option`.
 */
export function ollamaBaseURL(): string {
  const host = environment("OLLAMA_HOST") ?? "127.0.0.1";
  const address = /^https?:\/\//.test(host) ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`;
  if (!URL.canParse(address) || /^\w+:\/\//.test(address.slice("http://".length))) {
    const message = `OLLAMA_HOST is not an address: ${redact(address, [])}; expected host, host:port or a URL.`;
    throw new AgentError({ code: "invalid_option", message });
  }
  const url = new URL(address);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && !/:\d+\/?$/.test(host) && url.protocol === "http:") url.port = ollamaPort;
  return `${url.origin}${url.pathname.replace(/\/$/, "")}/v1`;
}
