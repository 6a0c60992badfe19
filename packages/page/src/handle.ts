import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { explain, PageError } from "./errors.ts";
import type { LiveSession } from "./liveSession.ts";
import { opener, type PageSessions } from "./pageSessions.ts";
import type { PageProtocol, PageReader } from "./protocol.ts";

/**
 * A handler for the paths below one base: `POST base` sends, `GET base/ID` reads the session, `GET base/ID/stream` joins its turn,
 * `POST base/ID/stop` stops it. Never rejects.
 */
export type PageHandler = (request: Request) => Promise<Response>;

const defaultMaxBytes = 10_000_000;

/** Serves sessions over a protocol. */
export function createHandler(sessions: PageSessions, protocol: PageProtocol): PageHandler {
  return async (request) => {
    try {
      checkOrigin(request, sessions.options.origins);
      return await answer(request, sessions, protocol);
    } catch (error) {
      if (error instanceof PageError) return text(error.status, error.message);
      return text(500, explain(error, sessions));
    }
  };
}

/** Refuses a request of another site's page, whose browser would send our user's cookies along. */
function checkOrigin(request: Request, origins: readonly string[] = []): void {
  const { headers, url } = request;
  const origin = headers.get("origin");
  const host = headers.get("host") ?? new URL(url).host;
  const isOwn = origin === null ? headers.get("sec-fetch-site") !== "cross-site" : isOf(origin, host);
  if (!isOwn && !(origin !== null && origins.includes(origin)))
    throw new PageError(
      403,
      "A page of this origin may not use this server; its option `origins` names those that may.",
    );
}

/** Returns whether an origin is of this host. A proxy may have ended TLS, so the scheme is that of the origin, whose own port may be stated. */
function isOf(origin: string, host: string): boolean {
  const [scheme = ""] = origin.split("://");
  const own = URL.parse(`${scheme}://${host}`);
  return own !== null && own.host !== "" && own.host === URL.parse(origin)?.host;
}

/** Requests so far. A stop holds for the requests before it, whichever of them has its session first. */
let requests = 0;

async function answer(request: Request, sessions: PageSessions, protocol: PageProtocol): Promise<Response> {
  requests += 1;
  const number = requests;
  const url = new URL(request.url);
  const [last = "", before] = url.pathname.split("/").reverse();
  if (request.method === "POST" && last === "stop")
    return await within(before, async (session) => {
      await session.stop(number);
      return new Response(null, { status: 204 });
    });
  if (request.method === "POST") {
    const asked = protocol.read(await bodyOf(request, sessions.options.maxBytes));
    return await within(asked.id, async (session, reply) => {
      const action = asked.action(await session.state());
      if (action.type === "join") return await join(session, asked, reply);
      return reply(asked.stream(await session.start(action, number)));
    });
  }
  if (request.method !== "GET") throw new PageError(405, "This address takes GET and POST.");
  return await within(last === "stream" ? before : last, async (session, reply) => {
    if (last === "stream") return await join(session, protocol.join(url), reply);
    const turn = await session.turn();
    const state = turn && !turn.isOver ? turn.before : await session.state();
    return Response.json(protocol.history(state), { headers: { "cache-control": "no-store" } });
  });

  async function join(session: LiveSession, reader: PageReader, reply: Reply): Promise<Response> {
    const turn = await session.turn();
    const texts = turn ? reader.stream(turn) : reader.idle?.(await session.state());
    return texts ? reply(texts) : new Response(null, { status: 204 });
  }

  async function within(
    id: unknown,
    respond: (session: LiveSession, reply: Reply) => Promise<Response>,
  ): Promise<Response> {
    const session = await opener.open(sessions, request, id);
    if (session instanceof Response) return session;
    let isStreamed = false;
    try {
      return await respond(session, (texts) => {
        isStreamed = true;
        return new Response(
          streamOf(texts, () => session.use(-1)),
          { headers: protocol.headers },
        );
      });
    } finally {
      if (!isStreamed) session.use(-1);
    }
  }
}

type Reply = (texts: AsyncIterable<string>) => Response;

/** A proxy breaks off a connection that is silent for a minute, and a tool may take longer. Pages skip a comment. */
const quietMs = 15_000;
const comment = ": \n\n";

/** Writes texts as their reader takes them. A failure breaks the connection off: its reader must not take the end for one. */
function streamOf(texts: AsyncIterable<string>, ended: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = texts[Symbol.asyncIterator]();
  let isLeft = false;
  /** The reader waits for more. Else a comment could follow the last event, by which a page knows the end. */
  let isAwaited = false;
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    if (!isLeft) ended();
    isLeft = true;
    clearInterval(timer);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setInterval(() => isAwaited && controller.enqueue(encoder.encode(comment)), quietMs).unref();
      },
      async pull(controller) {
        isAwaited = true;
        try {
          const { done, value } = await iterator.next();
          isAwaited = false;
          timer?.refresh();
          if (!done) return controller.enqueue(encoder.encode(value));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        leave();
      },
      cancel() {
        leave();
        // A reader that waits for the next event ends with it.
        void iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function bodyOf(request: Request, maxBytes: number = defaultMaxBytes): Promise<Record<string, unknown>> {
  const tooLarge = new PageError(413, `A request may have ${maxBytes.toLocaleString("en-US")} bytes.`);
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new PageError(415, "Send JSON, with the content type application/json.");
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (request.bodyUsed)
    throw new Error("The body of the request was read before: pass on one that no parser has read.");
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    // A client that leaves is no fault of the server.
    throw error === tooLarge ? error : new PageError(400, "The body was not sent to its end.");
  }
  const body = attempt(() => JSON.parse(Buffer.concat(chunks).toString()) as unknown);
  if (!isObject(body)) throw new PageError(400, "The body is not a JSON object.");
  return body;
}

function text(status: number, message: string): Response {
  const allow = status === 405 && { allow: "GET, POST" };
  return new Response(message, { status, headers: { "content-type": "text/plain; charset=utf-8", ...allow } });
}
