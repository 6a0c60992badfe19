// One request for a page, without following redirects, within its limits.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { isToolError, ToolError } from "@toolcrib/core";
import { showLine } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { isForbiddenByNode } from "@toolcrib/kit/files";
import type { WebSettings } from "../options.ts";
import type { HostCheck } from "./hostCheck.ts";

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  /** Returns a header, by its name in small letters. */
  header(name: string): string | undefined;
  /** Reads the body, at most `maxBytes` of it after decompression. */
  read(): Promise<{ body: Buffer; isWhole: boolean }>;
  /** Ends the connection; what was not read is not read any more. */
  close(): void;
}

const sentHeaders = {
  accept: "text/markdown;q=1, text/html;q=0.9, */*;q=0.5",
  "accept-encoding": "gzip, deflate, br",
  "user-agent": "toolcrib (+https://github.com/toolcrib/toolcrib)",
};

/** Asks for a page. The signal ends everything, also a later `read`. Throws a ToolError in words. */
export async function request(url: URL, hosts: HostCheck, settings: WebSettings, signal: AbortSignal): Promise<Answer> {
  hosts.check(url);
  const headersLimit = AbortSignal.timeout(settings.headersTimeoutMs);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isHttps = url.protocol === "https:";
  const sent = (isHttps ? httpsRequest : httpRequest)(url, {
    // An agent of its own: the global one may use proxies, which would connect elsewhere than where was checked.
    agent: isHttps ? new HttpsAgent() : new HttpAgent(),
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
    return answerOf(message, settings.maxBytes, signal);
  } catch (error) {
    sent.destroy();
    throw failure(url, error, signal);
  }
}

function answerOf(message: IncomingMessage, maxBytes: number, signal: AbortSignal): Answer {
  return {
    status: message.statusCode ?? 0,
    statusText: message.statusMessage ?? "",
    header: (name) => {
      const value = message.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    read: () => readBody(message, maxBytes, signal),
    close: () => message.destroy(),
  };
}

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
export function shown(words: string): string {
  return JSON.stringify(showLine(words, 60));
}

function decompressed(message: IncomingMessage): Readable {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity") return message;
  const decoder =
    encoding === "gzip" || encoding === "x-gzip"
      ? createGunzip()
      : encoding === "deflate"
        ? createInflate()
        : encoding === "br"
          ? createBrotliDecompress()
          : undefined;
  if (!decoder) throw new Error(`the page is sent in an encoding that was not requested: ${shown(encoding)}`);
  message.on("error", (error) => decoder.destroy(error));
  return message.pipe(decoder);
}

/** Returns the error that a call ends with: its own, or one in words. */
export function failure(url: URL, error: unknown, signal: AbortSignal): unknown {
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
