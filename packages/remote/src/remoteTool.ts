import {
  type ExecutableTool,
  type TimeLimit,
  ToolError,
  type ToolErrorCode,
  type ToolTraits,
  toolOutput,
} from "@toolcrib/core";
import { longestDelayMs } from "@toolcrib/core/internal";
import { originIn } from "@toolcrib/kit/text";
import { type Answer, ConnectionEnded } from "./connection.ts";
import type { ListedTool, RemoteChange, SentError } from "./frames.ts";
import { isPackTool } from "./hostFile.ts";
import type { Remote } from "./remote.ts";

/** Milliseconds until a remote has to say what a call would do; without an answer it is asked about. */
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

/** Makes a tool of a remote, under `name` here. What another tool than those of the packs says of itself is a hint. */
export function createRemoteTool(remote: Remote, listed: ListedTool, name: string): ExecutableTool {
  const {
    schema,
    timeoutMs,
    hasEffects: saysEffects,
    origin: listedOrigin,
    outputSchema,
    defaults,
    ...claims
  } = listed;
  const there = schema.function.name;
  const isKnown = isPackTool({
    ...claims,
    name: there,
    origin: listedOrigin,
    getSchema: () => schema,
    execute: noCall,
  });
  const traits: ToolTraits = isKnown ? claims : {};
  const hasEffects = isKnown && saysEffects;
  const own = { ...schema, function: { ...schema.function, name } };
  const isReadOnly = traits.readOnly === true;
  return {
    ...traits,
    ...(!isKnown && { hints: claims }),
    outputSchema,
    defaults,
    name,
    origin: originIn(remote.name, isKnown ? listedOrigin : "own"),
    timeoutMs: timeoutMs === "own" ? limitBeside(defaults) : timeoutMs,
    getSchema: () => own,
    ...(hasEffects && {
      async effects(args: Record<string, unknown>) {
        const connection = await remote.connection();
        const asked = connection.ask({ type: "effects-of", name: there, args }, AbortSignal.timeout(effectsLimitMs));
        const { effects } = await answerTo(asked, "effects", { remote, name, isReadOnly: true });
        return effects.map((effect) => ({ ...effect, remote: remote.name }));
      },
    }),
    async execute(args, { signal, callId, onProgress, beginCommit } = {}) {
      const connection = await remote.connection();
      signal?.throwIfAborted();
      // From here on the change may have happened there: nobody can know in time.
      if (!isReadOnly) beginCommit?.();
      const asked = connection.ask({ type: "call", name: there, args, callId }, signal, onProgress);
      const { output, content, data } = await answerTo(asked, "result", { remote, name, isReadOnly });
      return content === undefined && data === undefined ? output : toolOutput(output, { content, data });
    },
  };
}

function noCall(): never {
  throw new Error("this tool exists only for comparison");
}

/** Returns what a call of a file tool would change, `name` being the tool's name there. */
export async function proposeChanges(
  remote: Remote,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<readonly RemoteChange[] | undefined> {
  const connection = await remote.connection();
  signal?.throwIfAborted();
  const asked = connection.ask({ type: "changes-of", name, args }, signal);
  return (await answerTo(asked, "changes", { remote, name, isReadOnly: true })).changes;
}

/** Returns the limit beside a tool's own argument `timeout`: later, for a remote that answers nothing more. */
function limitBeside(defaults: ListedTool["defaults"]): TimeLimit {
  const usual = defaults?.timeout;
  if (typeof usual !== "number") return Number.POSITIVE_INFINITY;
  return ({ timeout = usual }) => Math.min((typeof timeout === "number" ? timeout : usual) + graceMs, longestDelayMs);
}

/** Returns the answer of this type; throws the error of the tool, and a RemoteError where there is no such answer. */
async function answerTo<Type extends Answer["type"]>(
  asked: Promise<Answer>,
  type: Type,
  { remote, name, isReadOnly }: { readonly remote: Remote; readonly name: string; readonly isReadOnly: boolean },
): Promise<Extract<Answer, { type: Type }>> {
  const answer = await asked.catch((error: unknown) => {
    if (!(error instanceof ConnectionEnded)) throw error;
    if (!error.isSent) throw remote.failed(`was not asked (${error.message})`, error);
    const what = isReadOnly ? "before it answered" : "during the call, which may have completed";
    throw remote.failed(`ended ${what} (${error.message}); the next call starts it again`, error);
  });
  if (answer.type === "error") throw toError(name, answer.error);
  if (answer.type !== type) throw remote.failed("sent an unexpected answer");
  return answer as Extract<Answer, { type: Type }>;
}

/** Returns the error of a tool there as one of the tool here. */
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
