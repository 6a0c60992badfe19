import { expect, test } from "vitest";
import { loops, type Step } from "../testing/loops.ts";
import { createScenario, pixel, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";

const url = `data:image/png;base64,${pixel}`;
const text = { type: "text", text: "a dot" };
const inputText = { type: "input_text", text: "a dot" };
const inputImage = { type: "input_image", image_url: url };

type Result = (id: string, words: string, isError: boolean) => object;
const output: Result = (call_id, words) => ({ type: "function_call_output", call_id, output: words });
const dotOutput = { type: "function_call_output", output: [inputText, inputImage] };

/** By loop: whether its list of tools follows the registry in mid-run, and its results: words, and the picture of a dot. */
const rows: Readonly<Record<keyof typeof loops, readonly [follows: boolean, words: Result, dot: object]>> = {
  "AI SDK": [
    true,
    (toolCallId, value, isError) => ({ toolCallId, output: { type: isError ? "error-text" : "text", value } }),
    { output: { type: "content", value: [text, { type: "file", data: { data: pixel }, mediaType: "image/png" }] } },
  ],
  "LangChain, middleware": [true, output, dotOutput],
  "LangChain, tools": [false, output, dotOutput],
  "OpenAI Agents": [true, output, dotOutput],
  "Anthropic runner": [
    false,
    (tool_use_id, content, isError) => ({ tool_use_id, content, ...(isError && { is_error: true }) }),
    { content: [text, { type: "image", source: { type: "base64", data: pixel, media_type: "image/png" } }] },
  ],
  "OpenAI `runTools`": [
    false,
    (tool_call_id, content) => ({ role: "tool", tool_call_id, content }),
    { role: "tool", content: "a dot" },
  ],
  "OpenAI `ResponsesToolRunner`": [false, output, dotOutput],
  "Responses, own loop": [true, output, dotOutput],
  "Gemini, own loop": [
    true,
    (id, words, isError) => ({ functionResponse: { id, response: { [isError ? "error" : "output"]: words } } }),
    {
      functionResponse: {
        response: { output: "a dot" },
        parts: [{ inlineData: { data: pixel, mimeType: "image/png" } }],
      },
    },
  ],
};

test.each(Object.entries(loops))(
  "%s: arguments are repaired, a failure is marked as one, a tool disabled in mid-run is refused, an image is handed on",
  async (name, start) => {
    const [follows, words, dot] = rows[name] ?? expect.fail(`no row for ${name}`);
    const { registry } = createScenario();
    const steps: Step[] = [
      () => [
        { name: "add", args: '{"a":"2","b":3}' },
        { name: "fail", args: "{}" },
      ],
      () => {
        registry.disable("add");
        registry.enable("spare");
        return [{ name: "add", args: '{"a":1,"b":1}' }];
      },
      () => [{ name: "picture", args: "{}" }, ...(follows ? [{ name: "spare", args: "{}" }] : [])],
    ];
    const told = await start([registry], steps, {});
    expect(told?.results.map((result) => JSON.parse(result))).toMatchObject([
      words("call_0_0", "5", false),
      words("call_0_1", "Error executing fail: the disk is full", true),
      words("call_1_0", "Tool not available: add", true),
      dot,
      ...(follows ? [words("call_2_1", "ran", false)] : []),
    ]);
    // A service that keeps the conversation keeps its tools, too.
    const shown = told?.shown.filter((tools) => tools.length > 0) ?? [];
    expect(shown.slice(0, 2).flat()).toEqual([shownAtFirst, shownAtFirst].slice(0, shown.length).flat());
    for (const later of shown.slice(2)) expect(later).toEqual(follows ? [...shownWithoutAdd, "spare"] : shownAtFirst);
  },
);
