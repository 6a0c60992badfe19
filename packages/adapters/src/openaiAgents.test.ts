import { Agent, ModelBehaviorError, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import { answerWith } from "@toolcrib/testing";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { createScenario } from "../testing/scenario.ts";
import { toOpenAIAgentsTools } from "./openaiAgents.ts";

const wire = await sharedWireServer();

test("ends with the SDK's own error for an unknown name where the run options are not given", async () => {
  setTracingDisabled(true);
  wire.script(answerWith({ calls: [{ name: "spare", args: "{}" }] }));
  const client = new OpenAI({ apiKey: "none", baseURL: `${wire.url}/v1` });
  const model = new OpenAIResponsesModel(client as never, "gpt-6-luna");
  const agent = new Agent({ name: "clerk", model, tools: toOpenAIAgentsTools(createScenario().registry) });
  await expect(run(agent, "go")).rejects.toThrow(ModelBehaviorError);
});
