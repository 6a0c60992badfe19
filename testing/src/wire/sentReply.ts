import { isObject } from "../isObject.ts";
import type { Fields } from "./checks.ts";

/** The JSON values of an answer: the events of a stream, or the one body. Empty for anything else. */
function valuesOf(text: string): Fields[] {
  const lines = text.includes("data: ") ? text.split("\n").filter((line) => line.startsWith("data: ")) : [text];
  return lines.flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line.replace(/^data: /, ""));
      return isObject(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

/** The content blocks of an answer of the Messages API, as far as it goes. */
export function sentBlocks(text: string): Fields[] {
  const blocks: Fields[] = [];
  const inputs: string[] = [];
  for (const value of valuesOf(text)) {
    const { type, index, delta, content_block: begun, content } = value;
    if (type === "message" && Array.isArray(content)) return content.filter(isObject);
    const at = Number(index);
    if (type === "content_block_start" && isObject(begun)) blocks[at] = { ...begun };
    const block = blocks[at];
    if (type === "content_block_delta" && block && isObject(delta)) {
      for (const name of ["text", "thinking", "signature"])
        if (typeof delta[name] === "string") block[name] = `${String(block[name] ?? "")}${delta[name]}`;
      if (typeof delta.partial_json === "string") inputs[at] = `${inputs[at] ?? ""}${delta.partial_json}`;
    }
    if (type === "content_block_stop" && block?.type === "tool_use") block.input = parsed(inputs[at] ?? "");
  }
  return blocks.filter(isObject);
}

/** The reply of chat completions as blocks: its thinking, then its message. */
export function sentChatBlocks(text: string): Fields[] {
  const details: Fields[] = [];
  for (const { choices } of valuesOf(text)) {
    const [choice] = Array.isArray(choices) ? choices.filter(isObject) : [];
    const part = choice?.delta ?? choice?.message;
    if (isObject(part) && Array.isArray(part.reasoning_details))
      details.push(...part.reasoning_details.filter(isObject).filter(({ signature }) => signature));
  }
  return [...details.map((detail) => ({ ...detail, type: "thinking" })), { type: "message" }];
}

/** The output items of an answer of the Responses API. */
export function sentItems(text: string): Fields[] {
  const values = valuesOf(text);
  const whole = values
    .map((value) => (isObject(value.response) ? value.response : value))
    .findLast((value) => Array.isArray(value.output) && value.output.length > 0);
  const done = values.flatMap(({ type, item }) =>
    type === "response.output_item.done" && isObject(item) ? [item] : [],
  );
  return done.length > 0 ? done : ((whole?.output ?? []) as unknown[]).filter(isObject);
}

function parsed(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}
