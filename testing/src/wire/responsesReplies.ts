import { isObject } from "../isObject.ts";
import { type Asked, type Builder, fresh, halves, type WireEvent } from "./builder.ts";
import type { Fields } from "./checks.ts";

/** Replies of the Responses API, each with a reasoning item first. */
export const responsesReplies: Builder = {
  events(reply, request) {
    const response = responsesReplies.whole(reply, request);
    const started = { ...response, status: "in_progress", output: [], usage: null };
    let sequence_number = 0;
    const event = (type: string, fields: Record<string, unknown>): WireEvent => {
      sequence_number += 1;
      return { event: type, data: { type, sequence_number, ...fields } };
    };
    const items = response.output as Record<string, unknown>[];
    return [
      event("response.created", { response: started }),
      event("response.in_progress", { response: started }),
      ...items.flatMap((item, output_index) => [
        event("response.output_item.added", { output_index, item: emptied(item) }),
        ...itemDeltas(item).map(([type, delta]) =>
          event(type, { output_index, item_id: item.id, content_index: 0, summary_index: 0, delta }),
        ),
        event("response.output_item.done", { output_index, item }),
      ]),
      event(`response.${String(response.status)}`, { response }),
    ];
  },
  whole({ text, calls = [], stop, refusal, thinking = "Hm." }, request) {
    const incomplete = stop === "max_output_tokens" || stop === "content_filter";
    const phase = calls.length > 0 ? "commentary" : "final_answer";
    const parts = [
      ...(text === undefined ? [] : [{ type: "output_text", text, annotations: [] }]),
      ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
    ];
    const output = [
      {
        type: "reasoning",
        id: fresh("rs"),
        summary: [{ type: "summary_text", text: thinking }],
        encrypted_content: `${fresh("opaque")}==`,
      },
      ...(parts.length === 0
        ? []
        : [{ type: "message", id: fresh("msg"), role: "assistant", status: "completed", phase, content: parts }]),
      ...calls.map(({ id = fresh("call"), name, args }, index) => ({
        type: "function_call",
        id: fresh("fc"),
        call_id: id,
        name,
        arguments: args,
        status: incomplete && index === calls.length - 1 ? "incomplete" : "completed",
      })),
    ];
    return {
      id: fresh("resp"),
      object: "response",
      created_at: 1,
      model: "m",
      error: null,
      status: incomplete ? "incomplete" : "completed",
      incomplete_details: incomplete ? { reason: stop } : null,
      output,
      usage: usageOf(request),
    };
  },
};

function emptied(item: Record<string, unknown>): Record<string, unknown> {
  if (item.type === "message") return { ...item, content: [], status: "in_progress" };
  if (item.type === "function_call") return { ...item, arguments: "", status: "in_progress" };
  // Here its content may be incomplete.
  return item.type === "reasoning"
    ? { ...item, summary: [], encrypted_content: "incomplete==" }
    : { ...item, status: "in_progress" };
}

function itemDeltas(item: Record<string, unknown>): [type: string, delta: string][] {
  if (item.type === "reasoning") return [["response.reasoning_summary_text.delta", summaryOf(item)]];
  if (item.type === "function_call") {
    return halves(String(item.arguments)).map((delta) => ["response.function_call_arguments.delta", delta]);
  }
  if (item.type !== "message") return [];
  return (item.content as Record<string, string>[]).flatMap((part): [string, string][] =>
    part.type === "refusal"
      ? [["response.refusal.delta", part.refusal ?? ""]]
      : halves(part.text ?? "").map((half) => ["response.output_text.delta", half]),
  );
}

function summaryOf({ summary }: Fields): string {
  const [part] = Array.isArray(summary) ? summary.filter(isObject) : [];
  return String(part?.text ?? "");
}

/** `input_tokens` holds those that were read from the cache or written to it. */
function usageOf(request: Asked | undefined): Fields {
  const { plain, read, write, output } = request?.tokens ?? { plain: 16, read: 4, write: 0, output: 5 };
  const input = plain + read + write;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: write },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: input + output,
  };
}
