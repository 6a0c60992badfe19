import { ToolMessage } from "@langchain/core/messages";
import { defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { expect, test } from "vitest";
import { toAiSdkTools } from "./aiSdk.ts";
import { toLangChainTools } from "./langchain.ts";

const registry = new ToolRegistry([
  defineTool({
    name: "count",
    description: "Counts.",
    parameters: { type: "object", properties: {} },
    execute: () => toolOutput("three files", { data: { files: 3 } }),
  }),
]);

test("AI SDK: data stands beside the text, which alone the model reads", async () => {
  const { count } = toAiSdkTools(registry);
  const output = await count?.execute?.({}, { toolCallId: "1", messages: [], context: {} });
  expect(output).toEqual({ text: "three files", data: { files: 3 } });
  expect(await count?.toModelOutput?.({ toolCallId: "1", input: {}, output })).toEqual({
    type: "text",
    value: "three files",
  });
});

test("LangChain: data is the artifact of the message", async () => {
  const [count] = toLangChainTools(registry);
  const message = await count?.invoke({ type: "tool_call", id: "1", name: "count", args: {} });
  expect(ToolMessage.isInstance(message) && [message.content, message.artifact]).toEqual(["three files", { files: 3 }]);
  expect(await count?.invoke({})).toBe("three files");
});
