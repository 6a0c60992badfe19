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

/** Makes a function that counts the characters at the end of a text that may be the start of a secret. */
function createTailCheck(secrets: readonly string[]): (text: string) => number {
  // As `withoutSecrets` finds them: without white space, in small letters.
  const bare = (text: string): string => text.replace(/\s/g, "").toLowerCase();
  const plain = secrets.map(bare);
  const firsts = new Set(plain.map(([first]) => first));
  const mostHeld = 2 * Math.max(...plain.map(({ length }) => length));
  return (text) => {
    for (let at = Math.max(0, text.length - mostHeld); at < text.length; at += 1) {
      const tail = firsts.has(text.charAt(at).toLowerCase()) ? bare(text.slice(at)) : "";
      if (tail !== "" && plain.some((secret) => secret.startsWith(tail))) return text.length - at;
    }
    return 0;
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
