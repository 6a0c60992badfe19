import {
  Agent,
  type Model,
  ModelBehaviorError,
  type ModelRequest,
  type ModelResponse,
  Runner,
  run,
  setTracingDisabled,
  Usage,
} from "@openai/agents";
import { beforeAll, expect, test } from "vitest";
import { createScenario, pixel, shownAtFirst, shownWithoutAdd } from "../testing/scenario.ts";
import { openAIAgentsRunOptions, toOpenAIAgentsTools } from "./openaiAgents.ts";

type Call = [name: string, input: string];

beforeAll(() => setTracingDisabled(true));

/** A model that makes the calls of one step after the other, then says `done`. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #steps: ReadonlyArray<() => readonly Call[]>;

  constructor(steps: ReadonlyArray<() => readonly Call[]>) {
    this.#steps = steps;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const step = this.requests.push(request);
    const calls = this.#steps[step - 1]?.() ?? [];
    const output: ModelResponse["output"] = calls.map(([name, args], at) => ({
      type: "function_call",
      callId: `${step}-${at}`,
      name,
      arguments: args,
    }));
    if (output.length === 0) {
      output.push({
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "done" }],
      });
    }
    return { usage: new Usage(), output };
  }

  getStreamedResponse(): AsyncIterable<never> {
    throw new Error("not streamed");
  }

  shown(step: number): string[] {
    return this.requests[step]?.tools.flatMap((tool) => ("name" in tool ? [tool.name] : [])) ?? [];
  }

  results(step: number): unknown[] {
    const { input } = this.requests[step] ?? {};
    if (!Array.isArray(input)) return [];
    return input.flatMap((item) => (item.type === "function_call_result" ? [item.output] : []));
  }
}

const text = (value: unknown): unknown => ({ type: "text", text: value });

test("runs a conversation: repaired arguments, a failing tool, tools disabled in mid-run hidden and refused", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([
    () => [
      ["add", '{"a":"2","b":3}'],
      ["fail", "{}"],
    ],
    () => {
      registry.disable("add");
      return [["add", '{"a":1,"b":1}']];
    },
    () => [["add", '{"a":1,"b":1}']],
  ]);
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) });
  const { finalOutput } = await run(agent, "go", openAIAgentsRunOptions(registry));
  expect(finalOutput).toBe("done");
  expect(model.shown(0)).toEqual(shownAtFirst);
  expect(model.shown(2)).toEqual(shownWithoutAdd);
  expect(model.results(3)).toEqual([
    text("5"),
    text("Error executing fail: the disk is full"),
    text("Tool not available: add"),
    text("Tool not available: add"),
  ]);
});

test("shows a tool that is enabled in mid-run", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([
    () => {
      registry.enable("spare");
      return [["add", '{"a":1,"b":1}']];
    },
    () => [["spare", "{}"]],
  ]);
  await run(new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) }), "go");
  expect(model.shown(1)).toEqual([...shownAtFirst, "spare"]);
  expect(model.results(2)).toEqual([text("2"), text("ran")]);
});

test("answers unknown names, and arguments that do not fit, to the model", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([
    () => [
      ["add", '{"a":1}'],
      ["add", "[1,2]"],
      ["ad", "{}"],
    ],
  ]);
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) });
  await new Runner(openAIAgentsRunOptions(registry)).run(agent, "go");
  const invalid = text(expect.stringMatching(/^Error executing add: Invalid arguments: /));
  const unknown = text("Tool not found: ad. Did you mean add?");
  expect(model.results(1)).toHaveLength(3);
  expect(model.results(1)).toEqual(expect.arrayContaining([invalid, unknown]));
});

test("leaves the answer to arguments that are not JSON to the SDK, and goes on", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([() => [["add", '{"a":']]]);
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) });
  expect((await run(agent, "go")).finalOutput).toBe("done");
  expect(model.results(1)).toMatchObject([{ text: expect.stringContaining("valid JSON") }]);
});

test("ends with the SDK's own error for an unknown name where the run options are not given", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([() => [["spare", "{}"]]]);
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) });
  await expect(run(agent, "go")).rejects.toThrow(ModelBehaviorError);
});

test("hands an image on beside the text", async () => {
  const { registry } = createScenario();
  const model = new ScriptedModel([() => [["picture", "{}"]]]);
  await run(new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) }), "go");
  const [output] = model.results(1) as unknown[][];
  expect(output?.[0]).toMatchObject({ type: "input_text", text: "a dot" });
  expect(JSON.stringify(output?.[1])).toContain(pixel);
});

test("ends a running tool when the caller aborts", async () => {
  const { registry, held, released } = createScenario();
  const abort = new AbortController();
  const model = new ScriptedModel([() => [["hold", "{}"]]]);
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(registry) });
  const running = run(agent, "go", { signal: abort.signal });
  await held;
  abort.abort(new Error("enough"));
  await expect(running).rejects.toThrow();
  await released;
});
