import { isObject } from "../isObject.ts";
import type { Fields } from "./checks.ts";
import { canonical, digestOf } from "./prompt.ts";
import { messagesRules, type Price, responsesRules } from "./rules.ts";

/** Tokens of a request and its reply, as a service counts and charges them. */
export interface Tokens {
  readonly plain: number;
  readonly read: number;
  readonly write: number;
  /** The part of `write` that is kept for an hour. */
  readonly write1h: number;
  readonly output: number;
  /** Dollars. */
  readonly cost: number;
}

/** A piece of a request, in the order in which services cache it. */
interface Piece {
  readonly digest: string;
  readonly tokens: number;
  /** The time for which the prefix that ends here is kept, if a mark says so. */
  readonly kept?: "5m" | "1h";
}

/** The distance that a mark looks back for a prefix that was written before. */
const lookBack = 20;
const leastOfOpenai = 1024;
const bytesOfToken = 4;
export const outputTokens = 5;

/** The prompt cache of a service: which prefixes were written, and what each request reads and writes. */
export class PromptCache {
  readonly #written = new Set<string>();

  clear(): void {
    this.#written.clear();
  }

  messages(body: Fields): Tokens {
    const { leastCached, price } = messagesRules(body.model);
    return this.#count(messagesPieces(body), leastCached, lookBack, price);
  }

  responses(body: Fields): Tokens {
    const { instructions, tools = [], input, model } = body;
    const items = [model, ...list(tools), instructions ?? "", ...list(input)].map(toPiece);
    const pieces = items.map((piece, index) => ({
      ...piece,
      ...(index === items.length - 1 && { kept: "5m" as const }),
    }));
    return this.#count(pieces, leastOfOpenai, items.length, responsesRules(model).price);
  }

  #count(pieces: readonly Piece[], least: number, back: number, price: Price): Tokens {
    let [before, total, read, end, end1h] = ["", 0, 0, 0, 0];
    const prefixes = pieces.map((piece) => {
      before = digestOf([before, piece.digest]);
      total += piece.tokens;
      return { digest: before, tokens: total, kept: piece.kept };
    });
    for (const [index, { kept, tokens }] of prefixes.entries()) {
      if (kept === undefined || tokens < least) continue;
      end = tokens;
      if (kept === "1h") end1h = tokens;
      const found = prefixes
        .slice(Math.max(0, index - back), index + 1)
        .findLast(({ digest }) => this.#written.has(digest));
      read = Math.max(read, found?.tokens ?? 0);
    }
    for (const { digest, kept, tokens } of prefixes) if (kept && tokens >= least) this.#written.add(digest);
    const write = end - read;
    const counts = { plain: total - end, read, write, write1h: Math.max(0, end1h - read), output: outputTokens };
    return { ...counts, cost: costOf(counts, price) };
  }
}

/** The charges of a service, by its own arithmetic. */
function costOf(tokens: Omit<Tokens, "cost">, price: Price): number {
  const { plain, read, write, write1h, output } = tokens;
  const { tier } = price;
  const rate = tier && plain + read + write > tier.above ? tier : price;
  const written = (write - write1h) * rate.write + write1h * (rate.write1h ?? rate.write);
  return (plain * rate.input + read * rate.read + written + output * rate.output) / 1_000_000;
}

function messagesPieces(body: Fields): Piece[] {
  const { tools, system, messages, thinking, tool_choice, output_config, cache_control } = body;
  const settings = digestOf([thinking, tool_choice, output_config]);
  const turns = list(messages).filter(isObject);
  const blocks = turns.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : list(content)).map((block) => ({
      ...toPiece(block),
      digest: digestOf([role, block]),
    })),
  );
  const [first, ...rest] = blocks;
  const joined = first ? [{ ...first, digest: digestOf([settings, first.digest]) }, ...rest] : [];
  // Deferred tools are no part of the prompt.
  const offered = list(tools).filter((tool) => !(isObject(tool) && tool.defer_loading === true));
  const systemBlocks = typeof system === "string" ? [{ type: "text", text: system }] : list(system);
  const pieces = [{ ...toPiece(body.model), tokens: 0 }, ...[...offered, ...systemBlocks].map(toPiece), ...joined];
  const last = pieces.at(-1);
  if (last && isObject(cache_control)) pieces[pieces.length - 1] = { ...last, kept: lifetime(cache_control) };
  return pieces;
}

function toPiece(value: unknown): Piece {
  const text = canonical(value);
  const mark = isObject(value) && isObject(value.cache_control) ? value.cache_control : undefined;
  // A picture costs by its size, not by its bytes.
  const length = text.replace(/"data":"[^"]{1000,}"/g, '"data":""').length;
  return { digest: digestOf(value), tokens: Math.ceil(length / bytesOfToken), ...(mark && { kept: lifetime(mark) }) };
}

function lifetime({ ttl }: Fields): "5m" | "1h" {
  return ttl === "1h" ? "1h" : "5m";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
