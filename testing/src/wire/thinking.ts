import { type Fields, isWellFormed } from "./checks.ts";
import { canonical, digestOf, type Prompt, type PromptBlock } from "./prompt.ts";
import { messagesRules } from "./rules.ts";

/** The context in which a thinking block was made. */
interface Origin {
  readonly model: string;
  readonly text: string;
  readonly system: string;
  readonly tools: Prompt["tools"];
  /** Of all blocks before it but thinking. */
  readonly before: string;
  /** The signature of the thinking before it; undefined for the first of its request. */
  readonly previous: string | undefined;
}

/** A reply that was sent. */
interface SentReply {
  readonly model: string;
  readonly blocks: readonly Fields[];
}

/** A thinking block of a request that does not fit to what stands before it. */
export interface Mismatch {
  readonly path: string;
  readonly reason: "prefix_binding_mismatch" | "model_binding_mismatch";
  /** In the words of the service: which part differs. */
  readonly differs: string;
}

/** The earlier thinking in a request. */
export interface ThinkingReport {
  /** Signatures that the service never gave, or not for this text: always refused. */
  readonly forged: readonly string[];
  readonly mismatches: readonly Mismatch[];
  /** Replies that came back changed. */
  readonly changed: readonly string[];
  /** Thinking that was sent and did not come back. */
  readonly missing: readonly string[];
  /** The signature of the last thinking. */
  readonly last: string | undefined;
}

const start = digestOf("start");

/** The service's memory of the thinking that it has sent, in its signatures; and the replies, to see that they come back whole. */
export class ThinkingMemory {
  readonly #origins = new Map<string, Origin>();
  /** By the digest of what stood before them. */
  readonly #replies = new Map<string, SentReply[]>();

  /** The ends of replies that the service wants to continue. */
  readonly #pauses = new Set<string>();

  /** Binds the thinking of a reply to its request. */
  sent(prompt: Prompt, blocks: readonly Fields[], report: ThinkingReport, isPaused: boolean): void {
    let before = endOf(prompt.blocks);
    let previous = report.last;
    this.#replies.set(before, [...(this.#replies.get(before) ?? []), { model: prompt.model, blocks }]);
    for (const block of blocks) {
      const signature = signatureIn(block);
      if (signature === undefined) {
        before = digestOf([before, digestOf(["assistant", {}, block])]);
        continue;
      }
      const { model, system, tools } = prompt;
      this.#origins.set(signature, { model, text: canonical(block), system, tools, before, previous });
      previous = signature;
    }
    if (isPaused) this.#pauses.add(before);
  }

  /** Returns whether the request ends with a reply that the service paused. */
  isPaused(prompt: Prompt): boolean {
    return this.#pauses.has(endOf(prompt.blocks));
  }

  /** Forgets the replies. Signatures stay valid. */
  forgetReplies(): void {
    this.#replies.clear();
  }

  /** `hides`: blocks that do not fit are not shown to the model. */
  check(prompt: Prompt, hides: boolean): ThinkingReport {
    const forged: string[] = [];
    const mismatches: Mismatch[] = [];
    let before = start;
    let last: string | undefined;
    let isTurnHidden = false;
    const referred = new Set<string>();
    for (const block of prompt.blocks) {
      if (block.signature === undefined) {
        before = digestOf([before, block.digest]);
        for (const name of block.names) referred.add(name);
        isTurnHidden = false;
        continue;
      }
      const previous = last;
      // Also one that is not shown to this model: another may be shown it.
      last = block.signature;
      const origin = this.#origins.get(block.signature);
      if (origin?.text !== canonical(block.block)) {
        forged.push(`${block.path}: Invalid \`signature\` in \`thinking\` block.`);
        continue;
      }
      if (origin.model !== prompt.model && !messagesRules(prompt.model).reads.test(origin.model)) {
        mismatches.push({ path: block.path, reason: "model_binding_mismatch", differs: "The model differs." });
        continue;
      }
      const place = { before, last: previous, referred };
      const differs: string | undefined = isTurnHidden ? "" : differenceOf(origin, prompt, place);
      if (differs !== undefined) mismatches.push({ path: block.path, reason: "prefix_binding_mismatch", differs });
      isTurnHidden = hides && differs !== undefined;
    }
    return { forged, mismatches, last, ...this.#compareReplies(prompt) };
  }

  /** Finds the model's replies among the blocks by what stands before each, and compares them with what was sent. */
  #compareReplies(prompt: Prompt): Pick<ThinkingReport, "changed" | "missing"> {
    const changed: string[] = [];
    const missing: string[] = [];
    let before = start;
    let next = 0;
    for (const [index, block] of prompt.blocks.entries()) {
      const isFirst = index >= next && (prompt.blocks[index - 1]?.role !== "assistant" || index === next);
      if (block.role === "assistant" && isFirst) {
        const found = (this.#replies.get(before) ?? [])
          .filter(({ model }) => model === prompt.model)
          .map(({ blocks }) => compareReply(blocks, prompt.blocks, index))
          .sort(
            (one, other) => one.changed.length + one.missing.length - other.changed.length - other.missing.length,
          )[0];
        changed.push(...(found?.changed ?? []));
        missing.push(...(found?.missing ?? []));
        next = index + (found?.length ?? 0);
      }
      if (block.signature === undefined) before = digestOf([before, block.digest]);
    }
    return { changed, missing };
  }
}

interface ReplyDifferences extends Pick<ThinkingReport, "changed" | "missing"> {
  /** Blocks of the request that are the reply. */
  readonly length: number;
}

function endOf(blocks: readonly PromptBlock[]): string {
  let before = start;
  for (const block of blocks) if (block.signature === undefined) before = digestOf([before, block.digest]);
  return before;
}

interface Place {
  readonly before: string;
  readonly last: string | undefined;
  readonly referred: ReadonlySet<string>;
}

/** Returns the part that differs from when the block was made; undefined if none does. */
function differenceOf(origin: Origin, prompt: Prompt, { before, last, referred }: Place): string | undefined {
  const differs = "differs from the one this block was created with.";
  if (prompt.system !== origin.system) return `The \`system\` prompt ${differs}`;
  const isToolKept = [...origin.tools].every(([name, { digest, isDeferred }]) => {
    const now = prompt.tools.get(name);
    return now?.digest === digest && now.isDeferred === isDeferred;
  });
  const isToolNew = [...prompt.tools].some(
    ([name, tool]) => !origin.tools.has(name) && (!tool.isDeferred || referred.has(name)),
  );
  if (!isToolKept || isToolNew) return `The \`tools\` list ${differs}`;
  if (before !== origin.before) return `The conversation before it ${differs}`;
  // The first ones may be left out, but none between others.
  return last !== undefined && last !== origin.previous ? "The `thinking` block before it differs." : undefined;
}

function compareReply(reply: readonly Fields[], blocks: readonly PromptBlock[], first: number): ReplyDifferences {
  const changed: string[] = [];
  const missing: string[] = [];
  let at = first;
  // A reply that was cut off in its thinking may not be sent with it.
  const end = reply.findLastIndex((block) => signatureIn(block) === undefined) + 1;
  for (const block of reply.slice(0, end)) {
    const now = blocks[at];
    const signature = signatureIn(block);
    if (signature !== undefined && now?.signature !== signature) {
      missing.push(`the thinking before ${now?.path ?? "the end"} is left out`);
      continue;
    }
    if (block.type === "text" && String(block.text).trim() === "") continue;
    const isSame = now?.role === "assistant" && canonical(now.block) === canonical(block);
    if (!isSame && !isMended(block, [...reply, ...blocks.slice(0, first).map((before) => before.block)]))
      changed.push(`${now?.path ?? "the end"} is not the reply's ${String(block.type)} as it came`);
    at += 1;
  }
  return { changed, missing, length: at - first };
}

/** Returns whether the service would refuse its own block, so that it comes back mended. */
function isMended(block: Fields, others: readonly Fields[]): boolean {
  const { type, text, id, name, input } = block;
  // The calls of a message of chat completions are checked with it.
  if (type === "message") return true;
  if (type === "text") return !isWellFormed(text);
  if (type !== "tool_use") return false;
  const legal = /^[a-zA-Z0-9_-]{1,64}$/;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const isUsed = others.filter((other) => other.type === "tool_use" && other.id === id && other !== block).length > 0;
  return isUsed || !isObject || !legal.test(String(id)) || !legal.test(String(name)) || !isWellFormed(input);
}

function signatureIn({ type, signature, data }: Fields): string | undefined {
  if (type === "thinking") return String(signature);
  return type === "redacted_thinking" ? String(data) : undefined;
}
