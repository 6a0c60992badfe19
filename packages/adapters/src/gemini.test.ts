import { type Content, type FunctionCall, type GenerateContentParameters, GoogleGenAI } from "@google/genai";
import { expect, test } from "vitest";
import { createScenario, pixel, serveScript, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";
import { runGeminiFunctionCalls, toGeminiTool } from "./gemini.ts";

interface Body {
  contents: Content[];
  tools: { functionDeclarations: { name: string; parametersJsonSchema: unknown }[] }[];
}

const reply = (calls: readonly FunctionCall[]): unknown => ({
  candidates: [
    {
      content: {
        role: "model",
        parts: calls.length ? calls.map((functionCall) => ({ functionCall })) : [{ text: "done" }],
      },
      finishReason: "STOP",
    },
  ],
});

test("runs a conversation: repaired arguments, a failure under error, the list following the registry", async () => {
  const { registry } = createScenario();
  const steps: Array<() => FunctionCall[]> = [
    () => [
      { id: "1", name: "add", args: { a: "2", b: 3 } },
      { name: "fail", args: {} },
    ],
    () => {
      registry.disable("add");
      return [{ id: "3", name: "add", args: { a: 1, b: 1 } }];
    },
    () => [{ id: "4", name: "picture" }],
    () => [],
  ];
  await using server = await serveScript<Body>(steps.map((step) => () => reply(step())));
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: server.url } });
  const contents: Content[] = [{ role: "user", parts: [{ text: "go" }] }];
  let text: string | undefined;
  for (let step = 0; step < 5 && text === undefined; step += 1) {
    const request: GenerateContentParameters = {
      model: "gemini",
      contents,
      config: { tools: [toGeminiTool(registry)] },
    };
    const response = await ai.models.generateContent(request);
    const parts = await runGeminiFunctionCalls(registry, response.functionCalls);
    if (parts.length === 0) text = response.text;
    else contents.push(response.candidates?.[0]?.content ?? {}, { role: "user", parts });
  }
  expect(text).toBe("done");
  const shown = server.requests.map(({ tools }) => tools[0]?.functionDeclarations.map(({ name }) => name));
  expect(shown).toEqual([shownAtFirst, shownAtFirst, shownWithoutAdd, shownWithoutAdd]);
  expect(server.requests[0]?.tools[0]?.functionDeclarations[0]?.parametersJsonSchema).toEqual({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  });
  const responses = server.requests
    .at(-1)
    ?.contents.flatMap(({ parts }) => parts?.map((part) => part.functionResponse) ?? []);
  expect(responses?.filter((response) => response !== undefined)).toEqual([
    { id: "1", name: "add", response: { output: "5" } },
    { name: "fail", response: { error: "Error executing fail: the disk is full" } },
    { id: "3", name: "add", response: { error: "Tool not available: add" } },
    {
      id: "4",
      name: "picture",
      response: { output: "a dot" },
      parts: [{ inlineData: { data: pixel, mimeType: "image/png" } }],
    },
  ]);
});

test("ends a running tool when the caller aborts, and runs none after it", async () => {
  const { registry, held, released } = createScenario();
  const abort = new AbortController();
  const calls = [{ name: "hold" }, { name: "add", args: { a: 1, b: 1 } }];
  const running = runGeminiFunctionCalls(registry, calls, { signal: abort.signal });
  await held;
  abort.abort(new Error("enough"));
  await released;
  expect((await running).map((part) => part.functionResponse?.response)).toEqual([
    { error: "Error executing hold: Aborted" },
    { error: "Error executing add: Aborted" },
  ]);
});
