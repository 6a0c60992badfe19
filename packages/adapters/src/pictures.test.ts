import { defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { expect, test } from "vitest";
import { runGeminiFunctionCalls } from "./gemini.ts";
import { callTool } from "./registryCall.ts";

const types = ["image/png", "image/gif", "image/bmp", "image/svg+xml"];
const draw = defineTool({
  name: "draw",
  description: "Draws.",
  parameters: { type: "object", properties: {} },
  execute: () => toolOutput("drawn", { content: types.map((mimeType) => ({ type: "image", data: "AAAA", mimeType })) }),
});

test("pictures of types that a service refuses are told in words, in Gemini GIF too", async () => {
  const registry = new ToolRegistry([draw]);
  const { text, images } = await callTool(registry, "draw", {}, {});
  expect(images.map(({ mimeType }) => mimeType)).toEqual(["image/png", "image/gif"]);
  expect(text).toMatch(
    /^drawn\n\[picture left out: it is image\/bmp, .*]\n\[picture left out: it is image\/svg\+xml, .*]$/,
  );
  const [part] = await runGeminiFunctionCalls(registry, [{ name: "draw" }]);
  expect(part?.functionResponse?.parts).toEqual([{ inlineData: { data: "AAAA", mimeType: "image/png" } }]);
  expect(part?.functionResponse?.response?.output).toContain("it is image/gif");
});
