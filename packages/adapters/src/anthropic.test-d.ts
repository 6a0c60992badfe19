import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { ToolRegistry } from "@toolcrib/core";
import { test } from "vitest";
import { z } from "zod";
import { toAnthropicTools } from "./anthropic.ts";

const registry = new ToolRegistry();
const client = new Anthropic({ apiKey: "none" });
const params = { model: "claude-haiku-5-5", max_tokens: 1, messages: [{ role: "user" as const, content: "go" }] };

test("the tool runner accepts the tools as they are, alone and beside others", () => {
  const tools = toAnthropicTools(registry, { timeoutMs: 5 });
  const other = betaZodTool({ name: "other", description: "", inputSchema: z.object({}), run: () => "" });
  void (() => client.beta.messages.toolRunner({ ...params, tools }));
  void (() => client.beta.messages.toolRunner({ ...params, tools: [...tools, other], stream: true }));
});
