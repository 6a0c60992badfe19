// A page with its redirects, as text, within its limits.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { isToolError, ToolError } from "@toolcrib/core";
import { attempt, showLine } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { isForbiddenByNode } from "@toolcrib/kit/files";
import { isBinary } from "@toolcrib/kit/text";
import type { WebSettings } from "../options.ts";
import { nameOf, portOf, whyRefused } from "./address.ts";
import type { HostCheck } from "./hostCheck.ts";

const mostRedirects = 5;
const sentHeaders = {
  accept: "text/markdown;q=1, text/html;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, deflate, br",
  "user-agent": "toolcrib (+https://github.com/toolcrib/toolcrib)",
};

export interface FetchedPage {
  /** The URL at which it was found in the end. */
  readonly url: URL;
  /** Without parameters; "" where none was sent. */
  readonly type: string;
  readonly kind: "html" | "text";
  readonly text: string;
  /** False if it is longer than `maxBytes`. */
  readonly isWhole: boolean;
  /** True if some of its bytes mean nothing in its encoding. */
  readonly isBroken: boolean;
}

/** Fetches a page; a string says in words what is there instead. Throws a ToolError. */
export async function fetchPage(
  start: URL,
  hosts: HostCheck,
  settings: WebSettings,
  callSignal: AbortSignal,
): Promise<FetchedPage | string> {
  const limit = AbortSignal.timeout(settings.downloadTimeoutMs);
  const signal = AbortSignal.any([callSignal, limit]);
  let url = start;
  try {
    for (let redirects = 0; ; redirects++) {
      const answer = await request(url, hosts, settings, signal);
      try {
        const next = redirectOf(url, answer);
        if (next === undefined) return await pageOf(url, answer, () => readBody(answer, settings.maxBytes, signal));
        if (typeof next === "string") return next;
        if (redirects === mostRedirects)
          throw new Error(`more than ${mostRedirects} redirects, the last to ${next.href}`);
        url = next;
      } finally {
        answer.destroy();
      }
    }
  } catch (error) {
    if (limit.aborted && !callSignal.aborted) {
      throw new ToolError({
        code: "execution_failed",
        message: `Cannot fetch ${url.href}: it took more than ${settings.downloadTimeoutMs} ms`,
      });
    }
    throw failure(url, error, callSignal);
  }
}

/** Asks for a page. The signal ends the request, not the reading of its answer. Throws a ToolError in words. */
async function request(
  url: URL,
  hosts: HostCheck,
  settings: WebSettings,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  hosts.check(url);
  const headersLimit = AbortSignal.timeout(settings.headersTimeoutMs);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Loaded with the first request: it takes some 20 ms, which importing this package should not cost.
  const http = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const sent = http.request(url, {
    // An agent of its own: the global one may use proxies, which would connect elsewhere than where was checked.
    agent: new http.Agent(),
    lookup: hosts.lookupFor(url),
    headers: sentHeaders,
  });
  const stop = (): void => {
    sent.destroy(
      headersLimit.aborted && !signal.aborted
        ? new Error(`no answer within ${settings.headersTimeoutMs} ms`)
        : undefined,
    );
  };
  const either = AbortSignal.any([signal, headersLimit]);
  either.addEventListener("abort", stop, { once: true });
  sent.on("response", resolve);
  sent.on("error", reject);
  sent.on("upgrade", (_, socket) => {
    socket.destroy();
    reject(new Error("it answered 101 Switching Protocols"));
  });
  sent.on("close", () => reject(new Error("the connection ended without an answer")));
  sent.end();
  try {
    const message = await promise;
    either.removeEventListener("abort", stop);
    return message;
  } catch (error) {
    sent.destroy();
    throw failure(url, error, signal);
  }
}

/** Reads the body, at most `maxBytes` of it after decompression. */
async function readBody(message: IncomingMessage, maxBytes: number, signal: AbortSignal) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const body = decompressed(message);
  const stop = (): void => {
    message.destroy();
    body.destroy(new Error("ended"));
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body) {
      signal.throwIfAborted();
      const taken = (chunk as Buffer).subarray(0, Math.min(maxBytes - bytes, chunk.length));
      chunks.push(taken);
      bytes += taken.length;
      if (taken.length < chunk.length) return { body: Buffer.concat(chunks), isWhole: false };
    }
    return { body: Buffer.concat(chunks), isWhole: true };
  } finally {
    signal.removeEventListener("abort", stop);
    message.destroy();
    body.destroy();
  }
}

/** Quotes words of a server within ours: short, every character seen. */
function shown(words: string): string {
  return JSON.stringify(showLine(words, 60));
}

function decompressed(message: IncomingMessage): Readable {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity") return message;
  const zlib = process.getBuiltinModule("node:zlib");
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? zlib.createGunzip()
      : encoding === "deflate"
        ? zlib.createInflate()
        : encoding === "br"
          ? zlib.createBrotliDecompress()
          : undefined;
  if (!decoder) throw new Error(`the page is sent in an encoding that was not requested: ${shown(encoding)}`);
  message.on("error", (error) => decoder.destroy(error));
  return message.pipe(decoder);
}

/** Returns the error that a call ends with: its own, or one in words. */
function failure(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (isToolError(error) || signal.aborted) return error;
  // The error of several addresses that all failed has no message.
  const reason = isForbiddenByNode(error)
    ? "Node's permission model forbids it; start the program with --allow-net"
    : messageOf(error) || String(isObject(error) ? error.code : error);
  return new ToolError({
    code: "execution_failed",
    message: `Cannot fetch ${url.href}: ${reason}`,
    cause: error,
  });
}

/** Returns where a redirect leads; words if that is another host, as an approval for one host does not cover another. */
function redirectOf(url: URL, { statusCode = 0, headers: { location } }: IncomingMessage): URL | string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  if (location === undefined || !URL.canParse(location, url.href)) {
    throw new Error(`it redirects without a valid address: ${location === undefined ? "none" : shown(location)}`);
  }
  const next = new URL(location, url);
  next.hash = "";
  if (isSamePlace(url, next)) return next;
  const reason = whyRefused(next);
  return reason === undefined
    ? `${url.href} redirects to another address. To follow it, call web_fetch with ${JSON.stringify(next.href)}`
    : `${url.href} redirects to another address, which cannot be fetched: it ${reason}`;
}

function isSamePlace(from: URL, to: URL): boolean {
  if (nameOf(from) !== nameOf(to) || to.username !== "" || to.password !== "") return false;
  const toHttps = from.protocol === "http:" && to.protocol === "https:" && portOf(from) === 80 && portOf(to) === 443;
  return toHttps || (from.protocol === to.protocol && portOf(from) === portOf(to));
}

async function pageOf(
  url: URL,
  { statusCode = 0, statusMessage = "", headers }: IncomingMessage,
  read: () => ReturnType<typeof readBody>,
): Promise<FetchedPage | string> {
  if (statusCode < 200 || statusCode > 299) {
    const retry = headers["retry-after"];
    const after = retry === undefined ? "" : `; it says to try again after ${shown(retry)}`;
    throw new Error(`it answered ${statusCode} (${shown(statusMessage)})${after}`);
  }
  const contentType = headers["content-type"] ?? "";
  const named = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  // Only a type as the standard has it: it stands among our own words.
  const type = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(named) ? named : "";
  if (!mayBeText(type)) {
    const length = headers["content-length"];
    return notShown(url, type, /^\d+$/.test(length ?? "") ? Number(length) : undefined);
  }
  const { body, isWhole } = await read();
  const { text, isBroken } = decodeText(body, contentType, isWhole);
  const isHtml = type === "text/html" || type === "application/xhtml+xml" || (type === "" && looksLikeHtml(text));
  if (!isHtml && isBinary(Buffer.from(text))) return notShown(url, type, isWhole ? body.length : undefined);
  return { url, type, kind: isHtml ? "html" : "text", text, isWhole, isBroken };
}

function mayBeText(type: string): boolean {
  return (
    type === "" ||
    type.startsWith("text/") ||
    /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml)$/.test(type) ||
    /^application\/(?:javascript|ecmascript|x-(?:javascript|sh|yaml|ndjson)|ndjson|jsonl|toml|graphql|sql)$/.test(type)
  );
}

function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body)/i.test(text.slice(0, 1000));
}

function notShown(url: URL, type: string, bytes: number | undefined): string {
  const size = bytes === undefined ? "its size is unknown" : `${bytes} bytes`;
  return `${url.href} is not text: ${type === "" ? "it has no type" : type}, ${size}. web_fetch shows HTML, text and JSON.`;
}

// The bytes of a page as text.

/** Decodes by the byte order mark, the header, or the page's own `<?xml` or `<meta>`, in that order; UTF-8 without any. */
function decodeText(body: Buffer, contentType: string, isWhole: boolean): { text: string; isBroken: boolean } {
  const head = body.subarray(0, 1024).toString("latin1");
  const label =
    markOf(body) ??
    /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ??
    /^\s*<\?xml\s[^>]*encoding\s*=\s*["']([\w-]+)/i.exec(head)?.[1] ??
    /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1] ??
    "utf-8";
  const encoding = attempt(() => new TextDecoder(label).encoding) ?? "utf-8";
  // The last character of a page that was cut may be a half.
  const strict = attempt(() => new TextDecoder(encoding, { fatal: true }).decode(body, { stream: !isWhole }));
  return { text: strict ?? new TextDecoder(encoding).decode(body), isBroken: strict === undefined };
}

function markOf(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  return undefined;
}
