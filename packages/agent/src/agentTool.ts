import { AsyncLocalStorage } from "node:async_hooks";
import { defineTool, type ExecutableTool, type ToolCallInfo } from "@toolcrib/core";
import { type OptionSpecs, option, withDefault } from "@toolcrib/core/internal";
import { clip, isObject } from "@toolcrib/core/text";
import type { Agent } from "./agent.ts";
import { invalidOption } from "./errors.ts";
import type { AgentEvent, Usage } from "./messages.ts";
import { readAgentOptions } from "./options.ts";
import { costOf } from "./providers/models/cost.ts";
import { modelPrice } from "./providers/models/models.ts";
import type { StopCondition } from "./turn/stopConditions.ts";

export interface AgentToolOptions {
  readonly name: string;
  /** Tells the model when to hand on a task, and what the agent can do. */
  readonly description: string;
  /** Makes a fresh agent for each call, with tools of its own. */
  readonly agent: () => Agent | Promise<Agent>;
  /** Milliseconds. Default: 600,000. */
  readonly timeoutMs?: number | undefined;
}

const specs = {
  name: { ...option.name, needed: "always" },
  description: { ...option.name, needed: "always" },
  agent: { ...option.call, expected: "a function that makes an agent", needed: "always" },
  timeoutMs: withDefault(option.milliseconds, 600_000),
} satisfies OptionSpecs<AgentToolOptions>;

/** The most agents, one within the other, that a turn starts: one that starts itself would never end. */
const mostNested = 3;
/** The number of agents around a call. */
const nesting = new AsyncLocalStorage<number>();

/**
 * Creates a tool that is an agent: it works on one task in a conversation of its own, and its answer is the output. Within the call the guards of the
 * caller decide too, after those of the agent's own tools, and its `approve` answers both; a question that nobody answers denies. What the
 * agent uses counts in the turn of the caller.
 */
export function createAgentTool(options: AgentToolOptions): ExecutableTool {
  const { name, description, agent: makeAgent, timeoutMs } = readAgentOptions("createAgentTool", options, specs);
  return defineTool({
    name,
    description,
    parameters: {
      type: "object",
      properties: {
        task: {
          type: "string",
          minLength: 1,
          description: "The whole task: the agent knows nothing of this conversation",
        },
      },
      required: ["task"],
      additionalProperties: false,
    },
    origin: "@toolcrib/agent",
    timeoutMs,
    // Its own calls are guarded one by one.
    effects: () => [],
    async execute({ task }, call) {
      const around = nesting.getStore() ?? 0;
      if (around >= mostNested)
        throw new Error(
          `This agent is within ${around - 1} others, and may not start one more: do the task without this tool`,
        );
      return nesting.run(around + 1, async () => answerOf(await madeBy(makeAgent), task, call));
    },
  });
}

async function madeBy(makeAgent: AgentToolOptions["agent"]): Promise<Agent> {
  const agent = await makeAgent();
  const { streamChat, toolRegistry, provider }: Record<string, unknown> = isObject(agent) ? agent : {};
  if (typeof streamChat === "function" && isObject(toolRegistry) && isObject(provider)) return agent;
  throw invalidOption("The function agent of createAgentTool must return an Agent.");
}

async function answerOf(
  agent: Agent,
  task: string,
  { signal, labels, caller, onProgress }: ToolCallInfo,
): Promise<string> {
  const tools = agent.toolRegistry.clone();
  for (const guard of caller?.guards ?? []) tools.guard(guard);
  const approve = caller?.approve ?? (() => "nobody can answer questions within this call");
  let end: Extract<AgentEvent, { type: "end" }> | undefined;
  let isLimited = false;
  let isEnded = false;
  const report = (usage: Usage): boolean => {
    isLimited = caller?.onUsage?.(usage) === true || isLimited;
    return isLimited;
  };
  const reported = new Set<string>();
  const stopWhen: StopCondition = () => {
    isEnded = isLimited;
    return isEnded;
  };
  stopWhen.seeInner = (usage, callId) => {
    reported.add(callId);
    return report(usage);
  };
  for await (const event of agent.streamChat(task, { signal, labels, tools, approve, stopWhen })) {
    // The usage of an agent within this one has the price of its own model, and was reported while it ran.
    if (event.type === "usage" && event.callId === undefined) report(withCost(event.usage, agent));
    else if (event.type === "usage" && !reported.delete(event.callId ?? "")) report(event.usage);
    if (event.type === "end") end = event;
    const message = describe(event);
    if (message !== undefined) onProgress?.({ message });
  }
  if (end?.reason === "stop" && !isEnded) return end.text === "" ? "(no answer)" : end.text;
  const soFar = end?.text ? ` Its text so far: ${clip(end.text, 2000)}` : "";
  const why = isEnded ? "the caller's limit is reached" : (end?.reason ?? "no end");
  throw new Error(`The agent ended without an answer: ${why}.${soFar}`);
}

/** Adds the cost by the price of the agent's own model: the caller may have another one. */
function withCost(usage: Usage, { provider }: Agent): Usage {
  const cost = usage.cost ?? (provider.name === "offline" ? 0 : costOf(usage, modelPrice(provider)));
  return cost === undefined ? usage : { ...usage, cost };
}

/** Describes in one line what the agent does; undefined if that is no news. */
function describe(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "tool-call":
      return `${event.name} ${clip(JSON.stringify(event.args), 200)}`;
    case "tool-progress":
      return event.progress.message;
    case "tool-result":
      return event.isError ? clip(event.output, 200) : undefined;
    case "retry":
      return event.message;
    default:
      return undefined;
  }
}
