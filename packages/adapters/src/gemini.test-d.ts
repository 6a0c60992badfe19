import { type Content, GoogleGenAI } from "@google/genai";
import { ToolRegistry } from "@toolcrib/core";
import { test } from "vitest";
import { runGeminiFunctionCalls, toGeminiTool } from "./gemini.ts";

const registry = new ToolRegistry();
const ai = new GoogleGenAI({ apiKey: "none" });

test("Gemini's SDK accepts the tool and the parts as they are", () => {
  void (async () => {
    const config = { tools: [toGeminiTool(registry), { googleSearch: {} }] };
    const { functionCalls } = await ai.models.generateContent({ model: "gemini", contents: "go", config });
    const contents: Content[] = [{ role: "user", parts: await runGeminiFunctionCalls(registry, functionCalls) }];
    await ai.models.generateContentStream({ model: "gemini", contents, config });
  });
});
