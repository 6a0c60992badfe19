import type { IncomingHttpHeaders } from "node:http";
import { isObject } from "../isObject.ts";
import { PromptCache, type Tokens } from "./cache.ts";
import { chatProblems } from "./chat.ts";
import type { Fields } from "./checks.ts";
import { ItemMemory } from "./items.ts";
import { messagesProblems } from "./messages.ts";
import { chatPrompt, messagesPrompt, type Prompt } from "./prompt.ts";
import { responsesProblems } from "./responses.ts";
import { betas, messagesRules } from "./rules.ts";
import { sentBlocks, sentChatBlocks, sentItems } from "./sentReply.ts";
import { ThinkingMemory, type ThinkingReport } from "./thinking.ts";

/** The three wire formats of model APIs: OpenAI's Responses, Anthropic's Messages, chat completions. */
export type WireFormat = "responses" | "messages" | "chat";

/** The service's settings for the account of the requests. */
export interface Account {
  /** Refuses thinking that does not fit to what stands before it also where the request does not ask for that: accounts since 2026-08-31. */
  isEnforced: boolean;
  /** A gateway that takes no `anthropic-beta` refuses all that needs it. */
  takesBetas: boolean;
  /** Counts the tokens of each request, with a prompt cache. Otherwise replies carry a usage that is always the same. */
  countsTokens: boolean;
}

// A service knows what it signed, whichever server plays it.
const thinking = new ThinkingMemory();

const defaultAccount: Account = { isEnforced: true, takesBetas: true, countsTokens: false };

/** The service's findings in a request. */
export interface Judgement {
  /** For each of these it would refuse the request. */
  readonly problems: readonly string[];
  /** Thinking that the model does not see again, or would not on an account that is enforced; replies that came back changed. */
  readonly losses: readonly string[];
  /** As replies carry it, where the request asks for it. */
  readonly transformations?: readonly Fields[];
  readonly tokens?: Tokens;
}

const advice = `Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`${betas.binding}\` value in the \`anthropic-beta\` header.`;

/** The model services behind one address: what they take, and what they remember of what they sent. */
export class ModelService {
  readonly account: Account = { ...defaultAccount };
  readonly #items = new ItemMemory();
  readonly #cache = new PromptCache();
  readonly #reports = new WeakMap<Fields, { readonly prompt: Prompt; readonly report: ThinkingReport }>();

  /** Forgets the replies and the cache, and is as it was made. Signatures stay valid. */
  reset(): void {
    Object.assign(this.account, defaultAccount);
    thinking.forgetReplies();
    this.#cache.clear();
  }

  judge(format: WireFormat, headers: IncomingHttpHeaders, body: Fields): Judgement {
    switch (format) {
      case "messages":
        return this.#judgeMessages(body, headers);
      case "responses": {
        const input = Array.isArray(body.input) ? body.input : [];
        const tokens = this.account.countsTokens && { tokens: this.#cache.responses(body) };
        const losses = this.#items.losses(input, body.model);
        return { problems: responsesProblems(body, this.#items), losses, ...tokens };
      }
      case "chat":
        return this.#judgeChat(body);
    }
  }

  /** Remembers the answer to a request. */
  sent(format: WireFormat, body: Fields, text: string): void {
    if (format === "responses") {
      this.#items.sent(sentItems(text), body.model);
      return;
    }
    const judged = this.#reports.get(body);
    if (!judged) return;
    const reply = format === "messages" ? sentBlocks(text) : sentChatBlocks(text);
    thinking.sent(judged.prompt, reply, judged.report, text.includes('"pause_turn"'));
  }

  #judgeMessages(body: Fields, headers: IncomingHttpHeaders): Judgement {
    const named = new Set(
      String(headers["anthropic-beta"] ?? "")
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    );
    const refused =
      named.size > 0 && !this.account.takesBetas ? ["Unexpected value(s) for the `anthropic-beta` header."] : [];
    const prompt = messagesPrompt(body);
    const problems = [...refused, ...messagesProblems(body, named)];
    const last = Array.isArray(body.messages) ? body.messages.at(-1) : undefined;
    if (isObject(last) && last.role === "assistant" && !thinking.isPaused(prompt)) {
      const words =
        "This model does not support assistant message prefill. The conversation must end with a user message.";
      if (!messagesRules(body.model).takesPrefill) problems.push(words);
    }
    const tokens = this.account.countsTokens && { tokens: this.#cache.messages(body) };
    const judged = this.#judgeThinking(body, prompt, named.has(betas.binding));
    return { ...judged, problems: [...problems, ...judged.problems], ...tokens };
  }

  #judgeChat(body: Fields): Judgement {
    const problems = chatProblems(body);
    if (!String(body.model).startsWith("anthropic/")) return { problems, losses: [] };
    const judged = this.#judgeThinking(body, chatPrompt(body), false);
    return { ...judged, problems: [...problems, ...judged.problems] };
  }

  #judgeThinking(body: Fields, prompt: Prompt, isReported: boolean): Judgement {
    const binding = isObject(body.thinking) ? body.thinking.block_binding : undefined;
    const behavior = isObject(binding) ? (binding.prefix_mismatch_behavior ?? "error") : undefined;
    const drops = behavior === "drop_block";
    const report = thinking.check(prompt, drops);
    this.#reports.set(body, { prompt, report });
    const mismatches = messagesRules(body.model).isAppendOnly ? report.mismatches : [];
    const problems = [...report.forged];
    const losses = [...report.changed, ...report.missing];
    const transformations: Fields[] = [];
    for (const { path, reason, differs } of mismatches) {
      const isPrefix = reason === "prefix_binding_mismatch";
      const isRefused = isPrefix && !drops && (this.account.isEnforced || behavior === "error");
      const isDropped = !isPrefix || drops;
      if (isPrefix) losses.push(`${path}: thinking is lost. ${differs}`);
      if (isRefused)
        problems.push(
          `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. ${advice} ${differs}`,
        );
      transformations.push({ type: isDropped ? "thinking_dropped" : "thinking_mismatch_allowed", path, reason });
    }
    return { problems, losses, ...(isReported && { transformations }) };
  }
}
