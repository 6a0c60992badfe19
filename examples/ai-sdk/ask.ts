import { aiSdkToolApproval, toAiSdkTools } from "@toolcrib/adapters/ai-sdk";
import { limitOutput, ToolRegistry } from "@toolcrib/core";
import { createPolicy } from "@toolcrib/policy";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { generateText, isStepCount, type LanguageModel, type ModelMessage, type ToolApprovalResponse } from "ai";

/** Answers a question about a call. */
export type Decide = (question: string, toolName: string, input: unknown) => Promise<boolean>;

/** One request to a model of the AI SDK, with our tools inside `root`. Before each change `decide` is asked. */
export async function ask(model: LanguageModel, root: string, prompt: string, decide: Decide): Promise<string> {
  const registry = new ToolRegistry([...createFsTools({ root }), ...createSearchTools({ root })]);
  registry.guard(createPolicy({ roots: root }).guard).use(limitOutput(20_000));
  const settings = {
    model,
    tools: toAiSdkTools(registry),
    toolApproval: aiSdkToolApproval(registry),
    stopWhen: isStepCount(30),
  };
  const messages: ModelMessage[] = [{ role: "user", content: prompt }];
  for (;;) {
    const { content, text, responseMessages } = await generateText({ ...settings, messages });
    messages.push(...responseMessages);
    const answers: ToolApprovalResponse[] = [];
    for (const part of content) {
      if (part.type !== "tool-approval-request" || part.isAutomatic) continue;
      const { toolName, input } = part.toolCall;
      const approved = await decide(part.reason ?? `${toolName}?`, toolName, input);
      answers.push({ type: "tool-approval-response", approvalId: part.approvalId, approved });
    }
    if (answers.length === 0) return text;
    messages.push({ role: "tool", content: answers });
  }
}
