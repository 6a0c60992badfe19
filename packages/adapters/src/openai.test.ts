import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { Response, ResponseCreateParams, ResponseInputItem } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { createScenario, pixel, serveScript, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";
import { runOpenAIResponsesCalls, toOpenAIResponsesTools, toOpenAITools } from "./openai.ts";

type Call = [name: string, input: string];
type Step = () => readonly Call[];

const model = "gpt-6-luna";
const client = (baseURL: string): OpenAI => new OpenAI({ apiKey: "none", baseURL, maxRetries: 0 });

describe("toOpenAITools", () => {
  const reply = (calls: readonly Call[]): Partial<ChatCompletion> => {
    const tool_calls = calls.map(([name, args], at) => ({
      type: "function" as const,
      id: `${name}_${at}`,
      function: { name, arguments: args },
    }));
    const message = { role: "assistant" as const, refusal: null };
    const finish = { index: 0, logprobs: null };
    return {
      id: "c",
      choices: [
        calls.length
          ? { ...finish, finish_reason: "tool_calls", message: { ...message, content: null, tool_calls } }
          : { ...finish, finish_reason: "stop", message: { ...message, content: "done" } },
      ],
    };
  };
  const serve = (steps: readonly Step[]) =>
    serveScript<ChatCompletionCreateParams>([...steps, () => []].map((step) => () => reply(step())));
  const messages = [{ role: "user" as const, content: "go" }];

  test("runs a conversation: repaired arguments, a failing tool, a tool disabled in mid-run refused", async () => {
    const { registry } = createScenario();
    await using server = await serve([
      () => [
        ["add", '{"a":"2","b":3}'],
        ["fail", ""],
        ["add", '{"a":'],
      ],
      () => {
        registry.disable("add");
        return [["add", '{"a":1,"b":1}']];
      },
    ]);
    const runner = client(server.url).chat.completions.runTools({
      model,
      reasoning_effort: "none",
      messages,
      tools: toOpenAITools(registry),
    });
    expect(await runner.finalContent()).toBe("done");
    const [first, , third] = server.requests;
    expect(first?.tools?.map((tool) => tool.type === "function" && tool.function.name)).toEqual(shownAtFirst);
    expect(third?.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual([
      "5",
      "Error executing fail: the disk is full",
      expect.stringMatching(/^Error executing add: Invalid arguments: /),
      "Tool not available: add",
    ]);
  });

  test("ends a running tool when the caller aborts", async () => {
    const { registry, held, released } = createScenario();
    await using server = await serve([() => [["hold", "{}"]]]);
    const abort = new AbortController();
    const runner = client(server.url).chat.completions.runTools(
      { model, messages, tools: toOpenAITools(registry) },
      { signal: abort.signal },
    );
    const running = runner.finalContent();
    await held;
    abort.abort();
    await expect(running).rejects.toThrow(OpenAI.APIUserAbortError);
    await released;
  });
});

describe("the loop over Responses", () => {
  const reply = (calls: readonly Call[]): Partial<Response> => ({
    id: "r",
    object: "response",
    status: "completed",
    output: calls.length
      ? calls.map(([name, args], at) => ({
          type: "function_call",
          call_id: `${name}_${at}`,
          name,
          arguments: args,
          status: "completed",
        }))
      : [
          {
            type: "message",
            id: "m",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "done", annotations: [] }],
          },
        ],
  });
  const serve = (steps: readonly Step[]) =>
    serveScript<ResponseCreateParams>([...steps, () => []].map((step) => () => reply(step())));

  test("runs a conversation, its list following the registry", async () => {
    const { registry } = createScenario();
    await using server = await serve([
      () => [
        ["add", '{"a":"2","b":3}'],
        ["fail", ""],
      ],
      () => {
        registry.disable("add");
        return [["add", '{"a":1,"b":1}']];
      },
      () => [["picture", "{}"]],
    ]);
    const input: ResponseInputItem[] = [{ role: "user", content: "go" }];
    for (let step = 0; step < 5; step += 1) {
      const tools = toOpenAIResponsesTools(registry);
      const response = await client(server.url).responses.create({ model, input, tools });
      const results = await runOpenAIResponsesCalls(registry, response.output);
      if (results.length === 0) break;
      input.push(...(response.output as ResponseInputItem[]), ...results);
    }
    const shown = server.requests.map(({ tools }) => tools?.map((tool) => tool.type === "function" && tool.name));
    expect(shown).toEqual([shownAtFirst, shownAtFirst, shownWithoutAdd, shownWithoutAdd]);
    const outputs = input.flatMap((item) => (item.type === "function_call_output" ? [item] : []));
    expect(outputs).toEqual([
      { type: "function_call_output", call_id: "add_0", output: "5" },
      { type: "function_call_output", call_id: "fail_1", output: "Error executing fail: the disk is full" },
      { type: "function_call_output", call_id: "add_0", output: "Tool not available: add" },
      {
        type: "function_call_output",
        call_id: "picture_0",
        output: [
          { type: "input_text", text: "a dot" },
          { type: "input_image", image_url: `data:image/png;base64,${pixel}` },
        ],
      },
    ]);
  });

  test("ends a running tool when the caller aborts", async () => {
    const { registry, held, released } = createScenario();
    const abort = new AbortController();
    const output = reply([["hold", ""]]).output ?? [];
    const running = runOpenAIResponsesCalls(registry, output, { signal: abort.signal });
    await held;
    abort.abort(new Error("enough"));
    await released;
    expect(await running).toMatchObject([{ call_id: "hold_0", output: "Error executing hold: Aborted" }]);
  });
});
