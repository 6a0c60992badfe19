import { defineTool, type ExecutableTool } from "@toolcrib/core";
import type { WireReply } from "@toolcrib/testing/wireReplies";

/** A tool that takes a path and says that it is done. */
export const tool = (name: string, more: object = {}): ExecutableTool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: { type: "object", properties: { path: { type: "string" } }, additionalProperties: false },
    execute: () => `${name} done`,
    ...more,
  });

export const call = (...called: string[]): WireReply => ({
  text: "Looking.",
  calls: called.map((name) => ({ name, args: '{"path": "a"}' })),
});
export const say = (text: string): WireReply => ({ text });
export const searched: WireReply = { calls: [{ name: "search_tools", args: '{"query": "mail"}' }] };

/** The head of a square picture, from which services read its size. */
export function pictureOf(side: number): { type: "image"; mimeType: "image/png"; data: string } {
  const bytes = Buffer.alloc(33);
  bytes.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  for (const at of [16, 20]) bytes.writeUInt32BE(side, at);
  return { type: "image", mimeType: "image/png", data: bytes.toString("base64") };
}
