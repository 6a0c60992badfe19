import { type ChatMessage, LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach } from "vitest";

const usage = { prompt_tokens: 40, completion_tokens: 4, input_tokens: 40, output_tokens: 4 };

/** Returns whether a tool has answered since the user last spoke. */
const answered = ({ messages }: { messages: readonly ChatMessage[] }): boolean => messages.at(-1)?.role === "tool";

/** An independent implementation of the services' wires, for all tests of a file: what it takes and sends was written by others. */
export function sharedMock(): LLMock {
  const mock = new LLMock({ port: 0, logLevel: "silent", strict: true });
  const call = (path: string) => ({ name: "list_dir", arguments: JSON.stringify({ path }) });
  beforeAll(async () => {
    mock.on({ userMessage: /^help$/ }, { content: "I can list directories for you." });
    mock.on({ userMessage: /^list/, predicate: answered }, { content: "One file, one folder." });
    const thought = { reasoning: "They want a listing.", reasoningSignature: "c2ln" };
    mock.on({ userMessage: /^list/ }, { content: "Looking. ", toolCalls: [call("日本/🦀")], ...thought });
    mock.on({ userMessage: /^both/, predicate: answered }, { content: "Both done.", usage });
    mock.on({ userMessage: /^both/ }, { toolCalls: ["a", "b"].map(call) });
    const error = { message: "The model x does not exist", type: "not_found_error" };
    mock.on({ userMessage: /^wrong/ }, { error, status: 404 });
    await mock.start();
  });
  beforeEach(() => mock.clearRequests());
  afterAll(() => mock.stop());
  return mock;
}
