import { type Asked, type Builder, fresh, halves, type WireEvent } from "./builder.ts";
import type { Fields } from "./checks.ts";

const chatUsage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

/** Replies of chat completions. Models of Anthropic behind OpenRouter think, with a signature. */
export const chatReplies: Builder = {
  events({ text, calls = [], stop, refusal, thinking }, request) {
    const base = { id: fresh("chatcmpl"), object: "chat.completion.chunk", created: 1, model: "m" };
    const chunk = (delta: unknown, finish_reason: string | null = null): WireEvent => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    });
    const details = thinkingDetails(thinking, request);
    const deltas = [
      ...(details.length > 0 ? [{ reasoning: details[0]?.text, reasoning_details: details }] : []),
      ...(text === undefined ? [] : halves(text).map((content) => ({ content }))),
      ...(refusal === undefined ? [] : [{ refusal }]),
      ...calls.flatMap(({ id = fresh("call"), name, args }, index) => {
        const [head, tail] = halves(args);
        return [
          { tool_calls: [{ index, id, type: "function", function: { name, arguments: head } }] },
          { tool_calls: [{ index, function: { arguments: tail } }] },
        ];
      }),
    ];
    const finish = stop ?? (calls.length > 0 ? "tool_calls" : "stop");
    return [
      chunk({ role: "assistant", content: "" }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, finish),
      { data: { ...base, choices: [], usage: chatUsage } },
      { data: "[DONE]" },
    ];
  },
  whole({ text, calls = [], stop, refusal, thinking }, request) {
    const tool_calls = calls.map(({ id = fresh("call"), name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    }));
    const details = thinkingDetails(thinking, request);
    const message = {
      role: "assistant",
      content: text ?? null,
      refusal: refusal ?? null,
      ...(calls.length > 0 && { tool_calls }),
      ...(details.length > 0 && { reasoning: details[0]?.text, reasoning_details: details }),
    };
    const finish_reason = stop ?? (calls.length > 0 ? "tool_calls" : "stop");
    const choices = [{ index: 0, message, finish_reason, logprobs: null }];
    return { id: fresh("chatcmpl"), object: "chat.completion", created: 1, model: "m", choices, usage: chatUsage };
  },
};

function thinkingDetails(text = "Hm.", request?: Asked): Fields[] {
  if (!String(request?.body.model).startsWith("anthropic/")) return [];
  const signature = `${fresh("sig")}==`;
  return [{ type: "reasoning.text", text, signature, format: "anthropic-claude-v1", index: 0 }];
}
