import {
  type ExecutableTool,
  longestDelayMs,
  originIn,
  type TimeLimit,
  ToolError,
  type ToolErrorCode,
  toolOutput,
} from "@toolcrib/core";
import type { PlaceChange, PlaceTool, SentError } from "./frames.ts";
import type { Place } from "./place.ts";
import { type Answer, PlaceEnded } from "./placeConnection.ts";

/** Milliseconds until a place has to say what a call would do; without an answer it is asked about. */
const effectsLimitMs = 30_000;
/** Milliseconds that a tool there may take beyond its own limit. */
const graceMs = 30_000;

const codes: ReadonlySet<string> = new Set<ToolErrorCode>([
  "invalid_arguments",
  "execution_failed",
  "permission_denied",
  "not_found",
  "not_available",
  "timeout",
  "aborted",
  "already_exists",
]);

/** A tool of a place, under `name` here. */
export function createPlaceTool(place: Place, listed: PlaceTool, name: string): ExecutableTool {
  const { schema, timeoutMs, hasEffects, origin, ...traits } = listed;
  const there = schema.function.name;
  const own = { ...schema, function: { ...schema.function, name } };
  const isReadOnly = traits.readOnly === true;
  return {
    ...traits,
    name,
    origin: originIn(place.name, origin),
    timeoutMs: timeoutMs === "own" ? limitBeside(traits.defaults) : timeoutMs,
    getSchema: () => own,
    ...(hasEffects && {
      async effects(args: Record<string, unknown>) {
        const connection = await place.connection();
        const asked = connection.ask({ type: "effects-of", name: there, args }, AbortSignal.timeout(effectsLimitMs));
        const answer = await ended(place, asked, true);
        if (answer.type === "error") throw toError(name, answer.error);
        if (answer.type !== "effects") throw place.failed("answered something else than was asked");
        return answer.effects.map((effect) => ({ ...effect, place: place.name }));
      },
    }),
    async execute(args, { signal, callId, onProgress, beginCommit } = {}) {
      const connection = await place.connection();
      signal?.throwIfAborted();
      // Whether it has happened there cannot be known in time: from here on it may have.
      if (!isReadOnly) beginCommit?.();
      const asked = connection.ask({ type: "call", name: there, args, callId }, signal, onProgress);
      const answer = await ended(place, asked, isReadOnly);
      if (answer.type === "error") throw toError(name, answer.error);
      if (answer.type !== "result") throw place.failed("answered something else than was asked");
      const { output, content, data } = answer;
      return content === undefined && data === undefined ? output : toolOutput(output, { content, data });
    },
  };
}

/** What a call of a file tool would change, `name` being the tool's name there. */
export async function proposeChanges(
  place: Place,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<readonly PlaceChange[] | undefined> {
  const connection = await place.connection();
  signal?.throwIfAborted();
  const answer = await ended(place, connection.ask({ type: "changes-of", name, args }, signal), true);
  if (answer.type === "error") throw toError(name, answer.error);
  if (answer.type !== "changes") throw place.failed("answered something else than was asked");
  return answer.changes;
}

/** For a tool that ends itself after its argument `timeout`: later, for a place that answers nothing more. */
function limitBeside(defaults: PlaceTool["defaults"]): TimeLimit {
  const usual = defaults?.timeout;
  if (typeof usual !== "number") return Number.POSITIVE_INFINITY;
  return ({ timeout = usual }) => Math.min((typeof timeout === "number" ? timeout : usual) + graceMs, longestDelayMs);
}

async function ended(place: Place, asked: Promise<Answer>, isReadOnly: boolean): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof PlaceEnded)) throw error;
    if (!error.isSent) throw place.failed(`was not asked (${error.message})`, error);
    const what = isReadOnly ? "before it answered" : "during the call, which may have completed";
    throw place.failed(`ended ${what} (${error.message}); the next call starts it again`, error);
  }
}

/** The error of a tool there as one of the tool here. */
function toError(toolName: string, { code, message, details, recoverable }: SentError): Error {
  if (code === undefined || !codes.has(code)) return new Error(message);
  return new ToolError({
    code: code as ToolErrorCode,
    toolName,
    message,
    details: (details ?? {}) as never,
    ...(recoverable === undefined ? {} : { recoverable }),
  });
}
