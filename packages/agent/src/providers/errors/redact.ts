import { isObject } from "@toolcrib/core/text";
import { redacted, redactUrls, withoutSecrets } from "@toolcrib/kit/text";
import type { TextPhase } from "../../messages.ts";
import type { ProviderEvent } from "../../provider.ts";

/** The forms of keys of the known services and of bearer tokens, also half masked. */
const keyShapes = /\b(?:sk|pk|rk)-[\w*.-]{6,}|\b(?:Bearer|Basic)\s+[\w*.~+/=-]{6,}/g;

/** Removes the given secrets and anything shaped like a key, for debug output. */
export function redactKeys(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets).replace(keyShapes, redacted);
}

/** Removes passwords in addresses, too, for errors. */
export function redact(text: string, secrets: readonly string[]): string {
  return redactUrls(redactKeys(text, secrets));
}

function redactJson<T>(value: T, secrets: readonly string[]): T;
function redactJson(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return withoutSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((entry) => redactJson(entry, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [withoutSecrets(key, secrets), redactJson(entry, secrets)]),
  );
}

/** White space in a row that is held back with the start of a secret. */
const mostSpaces = 64;

/** Makes a function that counts the characters at the end of a text that may be the start of a secret. */
function createTailCheck(secrets: readonly string[]): (text: string) => number {
  // As `withoutSecrets` finds them: without white space, in small letters.
  const plain = secrets.map((secret) => secret.replace(/\s/g, "").toLowerCase());
  const firsts = new Set(plain.map((secret) => secret[0]));
  const longest = Math.max(...plain.map((secret) => secret.length));
  return (text) => {
    let tail = "";
    let pending = 0;
    for (let at = text.length - 1, spaces = 0; at >= 0 && tail.length < longest - 1 && spaces <= mostSpaces; at -= 1) {
      const unit = text.charAt(at);
      spaces = /\s/.test(unit) ? spaces + 1 : 0;
      if (spaces > 0) continue;
      tail = unit.toLowerCase() + tail;
      if (firsts.has(unit.toLowerCase()) && plain.some((secret) => secret.startsWith(tail))) pending = text.length - at;
    }
    return pending;
  };
}

/** Removes secrets that a service echoes from events. Text that may begin one is held back until the next piece, another event or the end. */
export function createEventRedactor(secrets: readonly string[]): (event: ProviderEvent) => ProviderEvent[] {
  const pendingLength = createTailCheck(secrets);
  let held: Extract<ProviderEvent, { text: string }> | undefined;
  if (secrets.length === 0) return (event) => [event];
  return (event) => {
    if (event.type === "activity" || event.type === "thinking-dropped") return [event];
    const earlier = held;
    held = undefined;
    if (event.type === "reply") {
      const { message, detail } = event;
      const said = detail === undefined ? { message } : { message, detail };
      const without = redactJson(said, secrets);
      const clean = JSON.stringify(without) === JSON.stringify(said) ? event : { ...event, ...without };
      return earlier ? [earlier, clean] : [clean];
    }
    const joined = earlier?.type === event.type && phaseOf(earlier) === phaseOf(event);
    const text = withoutSecrets(joined ? earlier.text + event.text : event.text, secrets);
    const pending = pendingLength(text);
    if (pending > 0) held = { ...event, text: text.slice(-pending) };
    const shown = text.slice(0, text.length - pending);
    const events: ProviderEvent[] = earlier && !joined ? [earlier] : [];
    if (shown !== "") events.push({ ...event, text: shown });
    return events;
  };
}

function phaseOf(event: ProviderEvent): TextPhase | undefined {
  return event.type === "text-delta" ? event.phase : undefined;
}
