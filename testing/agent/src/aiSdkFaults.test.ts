import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { fromAiSdkModel } from "@toolcrib/agent/ai-sdk";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { faultKey, wireFaults } from "@toolcrib/testing/wireFaults";

import { describe, test } from "vitest";
import { runFault, type wireProvider } from "../../../packages/agent/testing/wireFaultRun.ts";

const server = await sharedWireServer();

const connect: typeof wireProvider = (format, url, { stream = true, limitMs } = {}) => {
  const baseURL = `${url}/v1`;
  const model =
    format === "messages"
      ? createAnthropic({ apiKey: faultKey, baseURL })("claude-haiku-4-5")
      : createOpenAI({ apiKey: faultKey, baseURL })("gpt-6-luna");
  return fromAiSdkModel(model, { secrets: [faultKey], stream, requestTimeoutMs: limitMs, idleTimeoutMs: limitMs });
};

/** Differences of the AI SDK itself: it reads no whole reply in place of a stream, and tells a refusal of OpenAI as a filter. */
const differs = ["a whole reply where a stream was asked for", "a refusal"];

describe.each(["responses", "messages"] as const)("after a fault of the %s wire, behind the AI SDK", (format) => {
  const faults = wireFaults.filter(
    ({ name, formats, silent }) =>
      (formats?.includes(format) ?? true) && !differs.includes(name) && !(silent && format === "responses"),
  );
  for (const fault of faults) test(fault.name, () => runFault(server, format, true, fault, connect));
});
