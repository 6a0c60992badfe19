// A page with its redirects, as text.
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isBinary } from "@toolcrib/kit/text";
import type { WebSettings } from "../options.ts";
import { nameOf, portOf, whyRefused } from "./address.ts";
import type { HostCheck } from "./hostCheck.ts";
import { type Answer, failure, request, shown } from "./request.ts";

const mostRedirects = 5;

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
        if (next === undefined) return await pageOf(url, answer);
        if (typeof next === "string") return next;
        if (redirects === mostRedirects)
          throw new Error(`more than ${mostRedirects} redirects, the last to ${next.href}`);
        url = next;
      } finally {
        answer.close();
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

/** Returns where a redirect leads; words if that is another host, as an approval for one host does not cover another. */
function redirectOf(url: URL, answer: Answer): URL | string | undefined {
  if (![301, 302, 303, 307, 308].includes(answer.status)) return undefined;
  const location = answer.header("location");
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

async function pageOf(url: URL, answer: Answer): Promise<FetchedPage | string> {
  if (answer.status < 200 || answer.status > 299) {
    const retry = answer.header("retry-after");
    const after = retry === undefined ? "" : `; it says to try again after ${shown(retry)}`;
    throw new Error(`it answered ${answer.status} (${shown(answer.statusText)})${after}`);
  }
  const contentType = answer.header("content-type") ?? "";
  const named = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  // Only a type as the standard has it: it stands among our own words.
  const type = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(named) ? named : "";
  if (!mayBeText(type)) {
    const length = answer.header("content-length");
    return notShown(url, type, /^\d+$/.test(length ?? "") ? Number(length) : undefined);
  }
  const { body, isWhole } = await answer.read();
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
