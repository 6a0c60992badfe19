import { isObject } from "@toolcrib/core/text";
import type { AssistantMessage, StopReason, Usage } from "../../messages.ts";
import type { ModelRequest, ProviderEvent, ReplyEvent } from "../../provider.ts";
import { clockedEvents, defaultRequestLimits, type RequestLimits } from "../../requestClock.ts";
import { endOfTurn, missingCalls } from "../errors/endWords.ts";
import { createEventRedactor, redactKeys } from "../errors/redact.ts";
import { badReply, type Service, serviceFault, toAgentError, wrongKind } from "../errors/wireErrors.ts";
import { priced } from "../models/cost.ts";
import type { ProviderOptions } from "./options.ts";
import { type ByteActivity, byteActivityOf } from "./serviceFetch.ts";

/** Turns the chunks of one reply into events. */
export interface ReplyReducer<Chunk> {
  push(chunk: Chunk): ProviderEvent[];
  /** True once the wire said that nothing more follows. */
  readonly isDone: boolean;
  /** Returns what was held back until the end of the stream. */
  flush?(): ProviderEvent[];
  /** Returns the reply; throws a `bad_reply` AgentError when no finish was seen. */
  end(): ReplyEvent;
}

/** The members that both SDKs' request promises have. */
interface SdkPromise<T> extends PromiseLike<T> {
  asResponse(): Promise<Response>;
}

/** A response that has begun: its chunks, and a sign for each of its bytes where there is one. */
interface OpenResponse<Chunk> {
  readonly chunks: AsyncIterable<Chunk> | Iterable<Chunk>;
  readonly activity?: ByteActivity | undefined;
}

/** The parts that differ from wire to wire: the SDK, the body of a request, and how a reply is read. */
export interface Wire<Client, Body extends object, Chunk, Whole> {
  createClient(): Promise<Client>;
  toBody(request: ModelRequest): Body;
  post(
    client: Client,
    body: Body & { readonly stream: boolean },
    signal: AbortSignal,
  ): SdkPromise<AsyncIterable<Chunk> | Whole>;
  /** The body to send in place of one that was refused, each more modest than the one before, and the reply to it as it is kept. */
  readonly again?: {
    toBody(body: Body, failure: unknown): Body | undefined;
    toReply?(reply: ReplyEvent, body: Body): ReplyEvent;
  };
  /** Turns a whole reply into the chunks that a stream would have brought. */
  toChunks(whole: Whole): Iterable<Chunk>;
  createReducer(request: ModelRequest): ReplyReducer<Chunk>;
  /** Changes an event before it is shown. */
  readonly toShown?: ((event: ProviderEvent) => ProviderEvent) | undefined;
}

export type Send = (request: ModelRequest) => AsyncIterable<ProviderEvent>;

/** Creates the one `send` of all wires. */
export function createSend<Client, Body extends object, Chunk, Whole>(
  service: Service,
  options: ProviderOptions<unknown>,
  wire: Wire<Client, Body, Chunk, Whole>,
): Send {
  const { stream = true, extraBody, price } = options;
  let client: Promise<Client> | undefined;

  async function open(body: Body, signal: AbortSignal): Promise<OpenResponse<Chunk>> {
    client ??= options.client ? Promise.resolve(options.client as Client) : wire.createClient();
    const sdk = await client;
    debugRequest(service.name, body, service.secrets);
    return openResponse(wire.post(sdk, { ...body, stream }, signal), { service, stream, toChunks: wire.toChunks });
  }

  const read = (request: ModelRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> => {
    let again: Body | undefined;
    const openWhatIsTaken = async (own: AbortSignal): Promise<OpenResponse<Chunk>> => {
      let body: Body = { ...wire.toBody(request), ...extraBody };
      for (;;) {
        try {
          return await open(body, own);
        } catch (failure) {
          again = wire.again?.toBody(body, failure);
          if (!again) throw failure;
          body = again;
        }
      }
    };
    const toShown = (event: ProviderEvent): ProviderEvent => {
      if (event.type !== "reply") return wire.toShown?.(event) ?? event;
      const reply = priced(event, price);
      return (again && wire.again?.toReply?.(reply, again)) ?? reply;
    };
    return streamReply({ service, signal, reducer: wire.createReducer(request), open: openWhatIsTaken, toShown });
  };

  return createTimedSend(options, read);
}

/** Creates the `send` that keeps the time where the agent does not, or where a provider has limits of its own. */
export function createTimedSend(
  { requestTimeoutMs, idleTimeoutMs, contentTimeoutMs }: Partial<RequestLimitsOf<ProviderOptions<unknown>>>,
  read: (request: ModelRequest, signal: AbortSignal) => AsyncGenerator<ProviderEvent>,
): Send {
  return (request) => {
    const ownLimits = [requestTimeoutMs, idleTimeoutMs, contentTimeoutMs].some((limit) => limit !== undefined);
    if (request.isTimed && !ownLimits) return read(request, request.signal);
    const limits = request.isTimed ? unlimited : defaultRequestLimits;
    return clockedEvents((signal) => read(request, signal), request.signal, {
      requestTimeoutMs: requestTimeoutMs ?? limits.requestTimeoutMs,
      idleTimeoutMs: idleTimeoutMs ?? limits.idleTimeoutMs,
      contentTimeoutMs: contentTimeoutMs ?? limits.contentTimeoutMs,
    });
  };
}

type RequestLimitsOf<Options> = Pick<Options, keyof RequestLimits & keyof Options>;

const never = Number.POSITIVE_INFINITY;
const unlimited: RequestLimits = { requestTimeoutMs: never, idleTimeoutMs: never, contentTimeoutMs: never };

export interface ReplyStream<Chunk> {
  readonly service: Service;
  readonly signal: AbortSignal;
  readonly reducer: ReplyReducer<Chunk>;
  /** Changes an event of the reducer, or its reply, before it is shown. */
  toShown(event: ProviderEvent): ProviderEvent;
  open(signal: AbortSignal): Promise<OpenResponse<Chunk>>;
}

/** Sends one request and yields what its reply holds; throws an AgentError. Ends the request when its reader leaves. */
export async function* streamReply<Chunk>(stream: ReplyStream<Chunk>): AsyncGenerator<ProviderEvent> {
  const { service, signal, reducer } = stream;
  const redact = createEventRedactor(service.secrets);
  const clean = (event: ProviderEvent): ProviderEvent[] => redact(stream.toShown(event));
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow);
  let reading = false;
  let ended = false;
  try {
    const { chunks, activity } = await stream.open(controller.signal);
    const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
    reading = true;
    for (let pending: Promise<IteratorResult<Chunk>> | undefined; !reducer.isDone; ) {
      pending ??= Promise.resolve(iterator.next());
      const next = await (activity ? Promise.race([pending, activity.next()]) : pending);
      if (next?.done) {
        ended = true;
        break;
      }
      const events = next ? reducer.push(next.value) : [];
      if (next) pending = undefined;
      if (events.length === 0) yield { type: "activity" };
      for (const event of events) yield* clean(event);
    }
    for (const event of reducer.flush?.() ?? []) yield* clean(event);
    yield* clean(reducer.end());
    // Read to its end, the connection can serve the next request; who called does not wait long for it.
    while (!ended) ended = (await iterator.next()).done === true;
  } catch (error) {
    const end = controller.signal.aborted ? undefined : endOfTurn(error, service.secrets);
    if (end === undefined) throw toAgentError(error, service, reading);
    yield { type: "reply", message: { role: "assistant", content: [] }, ...end };
  } finally {
    signal.removeEventListener("abort", follow);
    if (!ended) controller.abort();
  }
}

/** Opens a response; throws for a web page, which would be an empty stream. A reply that is not streamed is JSON, which `toChunks` splits. */
async function openResponse<Chunk, Whole>(
  promise: SdkPromise<AsyncIterable<Chunk> | Whole>,
  reading: { readonly service: Service; readonly stream: boolean; toChunks(whole: Whole): Iterable<Chunk> },
): Promise<OpenResponse<Chunk>> {
  const { service, stream, toChunks } = reading;
  const response = await promise.asResponse();
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  // Only as a stream is an event stream limited.
  if (type === "text/html" || type === "text/plain" || (!stream && type === "text/event-stream"))
    throw wrongKind(service, type);
  if (stream && type !== "application/json")
    return { chunks: (await promise) as AsyncIterable<Chunk>, activity: byteActivityOf(response) };
  const whole: unknown = await response.json();
  if (!isObject(whole)) throw badReply(service, "is not of its API's format.");
  if (whole.error && !("output" in whole)) throw serviceFault(whole.error);
  return { chunks: toChunks(whole as Whole) };
}

/** Prints each request on standard error as one line, keys redacted, if `TOOLCRIB_DEBUG=1`. */
function debugRequest(provider: string, body: unknown, secrets: readonly string[]): void {
  if (process.env.TOOLCRIB_DEBUG !== "1") return;
  process.stderr.write(`[toolcrib] ${provider} request ${redactKeys(JSON.stringify(body), secrets)}\n`);
}

interface GatheredReply {
  readonly content: AssistantMessage["content"];
  readonly stop: StopReason;
  /** The service's word for that. */
  readonly word?: unknown;
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage | undefined;
  /** The service's words about the stop. */
  readonly detail?: string | null | undefined;
}

/** Services differ in their word for an end with calls, so whether there are any decides. Throws `bad_reply` where promised calls are missing. */
export function toReplyEvent(reply: GatheredReply, service: Service): ReplyEvent {
  const { content, stop, model, usage, detail, word } = reply;
  const hasCalls = content.some((block) => block.type === "tool-call");
  if (stop === "tool-calls" && !hasCalls) throw missingCalls(word, service);
  const isCallStop = stop === "stop" || stop === "pause" || stop === "tool-calls";
  return {
    type: "reply",
    message: { role: "assistant", content, model },
    stop: hasCalls && isCallStop ? "tool-calls" : stop,
    ...(detail && { detail }),
    ...(usage && { usage }),
  };
}
