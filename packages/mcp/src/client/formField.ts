import { showInvisible } from "@toolcrib/core/text";
import { record } from "../mapping.ts";

/** The one field of a form that a question of the server can fill. */
export interface FormField {
  readonly name: string;
  /** Its title and description, to be shown with the question; "" without any. */
  readonly label: string;
  /** The value sent for each choice that is shown; empty where any text is an answer. */
  readonly choices: ReadonlyMap<string, string>;
  /** Set if the form takes an array of choices: one of them is an answer, too. */
  readonly isArray: boolean;
}

/** The title that our own server gives its field. */
const ownTitle = "Answer";
const mostChoices = 50;
/** The keywords beside `type` that a field of text may have together. */
const knownKeywords = ["", "enum", "enum,enumNames", "oneOf", "anyOf"];

/** Returns the field of a form with a single one, if it takes any text or a choice, as the revision 2025-11-25 of MCP writes them. */
export function formField(requestedSchema: unknown): FormField | undefined {
  const [entry, ...others] = Object.entries(record(record(requestedSchema).properties));
  if (!entry || others.length > 0) return undefined;
  const [name, schema] = entry;
  // A default is of use only to a form that is filled in by hand.
  const { title = ownTitle, description = "", default: _, ...kind } = record(schema);
  if (typeof title !== "string" || typeof description !== "string") return undefined;
  const label = [title === ownTitle ? "" : title, description].filter((text) => text !== "").join(": ");
  if (kind.type !== "array") {
    const choices = choicesOf(kind);
    return choices && { name, label, choices, isArray: false };
  }
  const { type: __, items, minItems = 1, maxItems = 1, ...more } = kind;
  const choices = choicesOf({ type: "string", ...record(items) });
  const takesOne = Number(minItems) <= 1 && Number(maxItems) >= 1 && Object.keys(more).length === 0;
  return choices && choices.size > 0 && takesOne ? { name, label, choices, isArray: true } : undefined;
}

/** Reads the choices of a field of text; undefined if not all that it says is known. */
function choicesOf(schema: Record<string, unknown>): FormField["choices"] | undefined {
  const { type, ...kind } = schema;
  const keywords = Object.keys(kind).sort().join();
  if (type !== "string" || !knownKeywords.includes(keywords)) return undefined;
  if (keywords === "") return new Map();
  const { enum: values, enumNames: names = values, oneOf, anyOf: titled = oneOf } = kind;
  const options = Array.isArray(titled) ? titled.map(record) : [];
  const shown = titled === undefined ? names : options.map(({ title }) => title);
  const sent = titled === undefined ? values : options.map(({ const: value }) => value);
  if (!areTexts(shown) || !areTexts(sent) || shown.length !== sent.length) return undefined;
  // Nothing else is shown of an option.
  const isWhole = options.every((one) => Object.keys(one).length === 2) && shown.every(isChoice);
  const choices = new Map(shown.map((text, at) => [text, sent[at] ?? text]));
  const isOffer = choices.size === sent.length && sent.length > 0 && sent.length <= mostChoices;
  return isWhole && isOffer ? choices : undefined;
}

function areTexts(given: unknown): given is string[] {
  return Array.isArray(given) && given.every((one) => typeof one === "string");
}

function isChoice(text: string): boolean {
  return text.trim() !== "" && text.length <= 200 && showInvisible(text) === text;
}
