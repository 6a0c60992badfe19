// What each published module is for, and the exports that a reader looks for first. `pages.test.ts` holds it to the packages.
export const modules = {
  "@toolcrib/core": [
    "The registry, and the definition of a tool.",
    "ToolRegistry",
    "defineTool",
    "ToolError",
    "isToolError",
  ],
  "@toolcrib/core/text": [
    "Cuts output with uniform notices, and prints untrusted text safely.",
    "showInvisible",
    "messageOf",
  ],
  "@toolcrib/core/testing": ["The checks that all our tools pass, for your own tools.", "testTool"],
  "@toolcrib/core/internal": ["Only for toolcrib's own packages; it may change in any version."],
  "@toolcrib/tools-fs": ["The file tools.", "createFsTools", "proposeChanges", "diffOfChanges"],
  "@toolcrib/tools-fs/undo": ["Restores files to their state before a turn.", "createUndo", "describeUndone"],
  "@toolcrib/tools-search": ["The search tools.", "createSearchTools"],
  "@toolcrib/tools-bash": [
    "The shell tools, and their sandbox.",
    "createBashTools",
    "createRunBashTool",
    "sandboxProblem",
  ],
  "@toolcrib/tools-bash/sandbox-runtime": [
    "A sandbox from another package that can allow single hosts.",
    "createSandboxRuntime",
  ],
  "@toolcrib/tools-web": ["Fetches web pages as Markdown.", "createWebTools"],
  "@toolcrib/tools-program": ["Runs programs that call tools.", "createProgramTools"],
  "@toolcrib/skills": ["Reads folders of skills.", "createSkills"],
  "@toolcrib/policy": ["Rules that allow, ask or deny.", "createPolicy", "fileStore"],
  "@toolcrib/policy/shell": ["Reads a shell line as a syntax tree.", "readShellLine"],
  "@toolcrib/adapters/ai-sdk": ["A registry under the AI SDK.", "toAiSdkTools", "aiSdkToolApproval", "fromAiSdkTool"],
  "@toolcrib/adapters/langchain": ["A registry under LangChain.", "registryMiddleware", "toLangChainTools"],
  "@toolcrib/adapters/openai-agents": [
    "A registry under OpenAI Agents.",
    "toOpenAIAgentsTools",
    "openAIAgentsRunOptions",
  ],
  "@toolcrib/adapters/anthropic": ["A registry under the tool runner of Anthropic's SDK.", "toAnthropicTools"],
  "@toolcrib/adapters/openai": ["A registry under OpenAI's SDK.", "runOpenAIResponsesCalls", "toOpenAITools"],
  "@toolcrib/adapters/gemini": ["A registry under Gemini's SDK.", "toGeminiTool", "runGeminiFunctionCalls"],
  "@toolcrib/mcp": ["Serves a registry over MCP, and mounts MCP servers.", "serveMcp", "mountMcp"],
  "@toolcrib/mcp/config": ["Reads and changes the files that name MCP servers.", "projectConfigFile", "allowedServers"],
  "@toolcrib/mcp/oauth": ["Logs in to MCP servers.", "login", "createOAuthStore"],
  "@toolcrib/remote": ["Runs the tools where the files are.", "connectTools"],
  "@toolcrib/agent": ["The agent: a loop, a conversation, errors.", "Agent", "chatObject", "isAgentError"],
  "@toolcrib/agent/ask-user": ["The tool with which the model asks the user.", "createAskUserTool"],
  "@toolcrib/agent/openai": ["OpenAI's Responses API.", "OpenAIProvider"],
  "@toolcrib/agent/anthropic": ["Anthropic's Messages API.", "AnthropicProvider"],
  "@toolcrib/agent/openrouter": ["OpenRouter.", "OpenRouterProvider"],
  "@toolcrib/agent/openai-compatible": [
    "Servers that speak chat completions, such as Ollama.",
    "OpenAICompatibleProvider",
  ],
  "@toolcrib/agent/ai-sdk": ["Any model of the AI SDK.", "fromAiSdkModel"],
  "@toolcrib/agent/offline": ["A stand-in for a model: a few rules, no key, no network.", "OfflineProvider"],
  "@toolcrib/agent/models": ["Chooses an available model, and lists the settings and prices of models.", "chooseModel"],
  "@toolcrib/agent/sessions": ["Manages many saved conversations.", "SessionFolder"],
  "@toolcrib/agent/transcript": [
    "Writes a conversation as a page or as Markdown.",
    "sessionToHtml",
    "sessionToMarkdown",
  ],
  "@toolcrib/agent/instructions": ["Reads `AGENTS.md` files into a prompt.", "readInstructions"],
  "@toolcrib/agent/telemetry": [
    "OpenTelemetry spans of turns, requests and calls.",
    "traceTurn",
    "traceProvider",
    "traceTools",
  ],
  "@toolcrib/agent/testing": [
    "Scripted and recorded models, and checks, for tests.",
    "ScriptedProvider",
    "recordProvider",
  ],
  "@toolcrib/defaults": ["The ten default tools, and an agent with them.", "createDefaultToolRegistry", "Agent"],
  "@toolcrib/defaults/registry": ["The same without the agent.", "createDefaultToolRegistry"],
  "@toolcrib/durable": ["The interface of every engine for durable runs.", "DurableRuns"],
  "@toolcrib/durable/dbos": ["Durable runs on PostgreSQL.", "durable"],
  "@toolcrib/durable/restate": ["Durable runs on Restate.", "agentWorkflow"],
  "@toolcrib/durable/telemetry": ["One trace for each run, across all workers.", "traceRuns"],
  "@toolcrib/acp": ["Serves an agent to editors.", "serveAcp"],
  "@toolcrib/page": ["The sessions behind a web page.", "PageSessions", "openAgent"],
  "@toolcrib/page/ai-sdk": ["The protocol of `useChat`.", "createUIHandler", "toUIMessageStream", "toUIMessages"],
  "@toolcrib/page/client": ["For the browser: sees answers that were cut off.", "fetchWhole"],
  "@toolcrib/page/ag-ui": ["The protocol of AG-UI and CopilotKit.", "createAgUiHandler"],
  "@toolcrib/page/ag-ui-client": ["For the browser: AG-UI's client with reloads, stops and cuts.", "PageAgent"],
  "@toolcrib/cli": ["The `toolcrib` command."],
  "@toolcrib/contracts": ["Compares two versions of tools.", "createManifest", "compareManifests"],
  "@toolcrib/kit/files": [
    "For authors of packs: confined paths, atomic writes, locks.",
    "createPathScope",
    "writeAtomically",
  ],
  "@toolcrib/kit/text": ["For authors of packs: encodings, secrets, JSON errors with their place."],
  "@toolcrib/kit/threads": ["For authors of packs: worker threads."],
};

/** The list of modules in the reading order, in place of the alphabetical one. `names` are those that there are. */
export function moduleList(names) {
  const known = Object.keys(modules).filter((name) => names.includes(name));
  const others = names.filter((name) => !known.includes(name));
  const rows = [...known, ...others].map((name) => `| [\`${name}\`](${name}.md) | ${modules[name]?.[0] ?? ""} |`);
  return ["| module | |", "| --- | --- |", ...rows].join("\n");
}

/** The first lines of a module's page: what it is for, and where to begin. */
export function moduleLead(name) {
  const [sentence = "", ...exported] = modules[name] ?? [];
  const links = exported.map((one) => `[\`${one}\`](#${one.toLowerCase()})`);
  return `${sentence}${links.length > 0 ? ` Begin with ${links.join(", ")}.` : ""}`;
}
