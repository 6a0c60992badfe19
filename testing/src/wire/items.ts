import { isObject } from "../isObject.ts";
import { type Fields, isWellFormed, Problems } from "./checks.ts";
import { canonical } from "./prompt.ts";

/** An output item that was sent, and the reasoning of its reply that came before it. */
interface SentItem {
  readonly item: Fields;
  readonly reasoning: readonly string[];
  readonly model: unknown;
}

/** The items that a stateless Responses API has sent, and can read again. */
export class ItemMemory {
  readonly #sent = new Map<string, SentItem>();
  readonly #calls = new Map<string, SentItem>();

  sent(items: readonly Fields[], model: unknown): void {
    const reasoning: string[] = [];
    for (const item of items) {
      const entry = { item, reasoning: [...reasoning], model };
      this.#sent.set(String(item.id), entry);
      if (typeof item.call_id === "string") this.#calls.set(item.call_id, entry);
      if (item.type === "reasoning") reasoning.push(String(item.id));
    }
  }

  /** The items of a request whose conversation is stored, with what they refer to. */
  resolved(input: readonly unknown[]): readonly unknown[] {
    return input.map((item) => {
      const isReference = isObject(item) && item.type === "item_reference";
      return isReference ? (this.#sent.get(String(item.id))?.item ?? item) : item;
    });
  }

  /** The problems for which the service would refuse the items of a request. */
  problems(input: readonly unknown[]): readonly string[] {
    const problems = new Problems();
    const given = new Set<unknown>();
    for (const item of input.filter(isObject)) {
      given.add(item.id);
      if (item.id === undefined) continue;
      const sent = this.#sent.get(String(item.id));
      if (item.type === "reasoning") {
        const isRead = sent !== undefined && sent.item.encrypted_content === item.encrypted_content;
        problems.expect(isRead, `The encrypted content for item ${String(item.id)} could not be verified.`);
      }
      for (const id of sent?.reasoning ?? [])
        problems.expect(
          given.has(id),
          `Item '${String(item.id)}' of type '${String(item.type)}' was provided without its required 'reasoning' item: '${id}'.`,
        );
    }
    return problems.list;
  }

  /** Losses without a refusal: reasoning that did not come back, and items that came back changed. */
  losses(input: readonly unknown[], model: unknown): readonly string[] {
    const problems = new Problems();
    const items = input.filter(isObject);
    const given = new Set(items.map(({ id }) => id));
    for (const item of items) {
      const byCall = String(item.type).endsWith("_call") ? this.#calls.get(String(item.call_id)) : undefined;
      const sent = this.#sent.get(String(item.id)) ?? byCall;
      if (sent === undefined || sent.model !== model) continue;
      for (const id of sent.reasoning) problems.expect(given.has(id), `the reasoning ${id} is left out`);
      if (item.type !== sent.item.type || isMended(sent.item)) continue;
      for (const name of ["summary", "arguments", "name", "phase", "content"]) {
        const isSame = partOf(item, name) === partOf(sent.item, name);
        problems.expect(isSame, `${String(item.id ?? item.call_id)} came back with another ${name}`);
      }
    }
    return problems.list;
  }
}

function partOf(item: Fields, name: string): string {
  const value = item[name];
  if (name !== "content" || !Array.isArray(value)) return canonical(value);
  return canonical(value.filter(isObject).map(({ text, refusal }) => text ?? refusal));
}

/** Returns whether the service would refuse its own item, so that it comes back mended. */
function isMended({ type, name, arguments: text, content, status }: Fields): boolean {
  if (status === "incomplete") return true;
  if (type === "message") return !isWellFormed(content);
  if (type !== "function_call") return false;
  try {
    return (
      !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)) ||
      !isObject(JSON.parse(String(text))) ||
      !isWellFormed(JSON.parse(String(text)))
    );
  } catch {
    return true;
  }
}
