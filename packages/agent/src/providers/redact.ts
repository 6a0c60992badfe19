import type { ProviderEvent } from "../provider.ts";
import { isRecord } from "./wireText.ts";

const mark = "[redacted]";
const shortestSecret = 6;
const secretHeader = /auth|key|token|secret|cookie/i;
/** What keys of the known services and bearer tokens look like, also half masked. */
const keyShapes = /\b(?:sk|pk|rk)-[\w*.-]{6,}|\bBearer\s+[\w*.~+/=-]{6,}/g;

/** Every secret a provider was given: its key and the values of headers that carry one. */
export function secretsOf(...sources: (string | Readonly<Record<string, string>> | null | undefined)[]): string[] {
  const found = sources.flatMap((source) => {
    if (typeof source === "string") return [source];
    return Object.entries(source ?? {}).flatMap(([name, value]) =>
      secretHeader.test(name) ? [value, value.replace(/^\w+\s+/, "")] : [],
    );
  });
  return [...new Set(found.filter((secret) => secret.length >= shortestSecret))].sort((a, b) => b.length - a.length);
}

/** `text` without the given secrets. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, mark), text);
}

/** For errors and debug output: without the given secrets, nor anything shaped like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets).replace(keyShapes, mark);
}

function redactJson(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return withoutSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((entry) => redactJson(entry, secrets));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [withoutSecrets(key, secrets), redactJson(entry, secrets)]),
  );
}

/** How many characters at the end of `text` may be the start of a secret. */
function pendingLength(text: string, secrets: readonly string[]): number {
  const longest = Math.min(text.length, (secrets[0]?.length ?? 1) - 1);
  for (let length = longest; length > 0; length -= 1) {
    const tail = text.slice(-length);
    if (secrets.some((secret) => secret.startsWith(tail))) return length;
  }
  return 0;
}

/**
 * Keeps secrets that a service echoes out of the events, also one that arrives in pieces: text that may be the start of
 * a secret is held back until the next piece, another kind of event or the end.
 */
export function createEventRedactor(secrets: readonly string[]): (event: ProviderEvent) => ProviderEvent[] {
  let held: { type: "text-delta" | "reasoning-delta"; text: string } | undefined;
  if (secrets.length === 0) return (event) => [event];
  return (event) => {
    if (event.type === "activity") return [event];
    const earlier = held;
    held = undefined;
    if (event.type === "reply") {
      const { message, detail } = event;
      const said = detail === undefined ? { message } : { message, detail };
      const clean = secrets.some((secret) => JSON.stringify(said).includes(secret))
        ? { ...event, ...(redactJson(said, secrets) as typeof said) }
        : event;
      return earlier ? [earlier, clean] : [clean];
    }
    const joined = earlier?.type === event.type;
    const text = withoutSecrets(joined ? earlier.text + event.text : event.text, secrets);
    const pending = pendingLength(text, secrets);
    if (pending > 0) held = { type: event.type, text: text.slice(-pending) };
    const shown = text.slice(0, text.length - pending);
    const events: ProviderEvent[] = earlier && !joined ? [earlier] : [];
    if (shown !== "") events.push({ type: event.type, text: shown });
    return events;
  };
}
