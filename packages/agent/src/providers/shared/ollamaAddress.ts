import { invalidOption } from "../../errors.ts";
import { redact } from "../errors/redact.ts";
import { environment } from "./options.ts";

const ollamaPort = "11434";

/** Returns Ollama's address: `OLLAMA_HOST` is a host, host:port or URL; 0.0.0.0 and :: mean this machine. Throws `invalid_option`. */
export function ollamaBaseURL(): string {
  // Ollama takes quotes off, too.
  const host = environment("OLLAMA_HOST")?.replace(/^["'\s]+|["'\s]+$/g, "") || "127.0.0.1";
  const address = /^https?:\/\//i.test(host) ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`;
  if (!URL.canParse(address) || /^\w+:\/\//.test(address.slice("http://".length)))
    throw invalidOption(`OLLAMA_HOST is not an address: ${redact(address, [])}; expected host, host:port or a URL.`);
  const url = new URL(address);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  if (url.port === "" && !/:\d+\/?$/.test(host) && url.protocol === "http:") url.port = ollamaPort;
  return `${url.origin}${url.pathname.replace(/(?:\/v1)?\/*$/, "")}/v1`;
}
