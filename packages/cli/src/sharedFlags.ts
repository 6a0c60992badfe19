import type { FlagsOf } from "./flags.ts";

const choiceFlags = {
  on: {
    usage: "--on <address>",
    about:
      "the tools of a remote: docker:NAME, podman:NAME, image:NAME, ssh:HOST, kubectl:POD, each with an optional :/FOLDER, command:WORDS",
  },
  root: {
    usage: "--root <dir>",
    about: "a directory that the file tools cannot leave; can be repeated (default: this one)",
    value: "list",
  },
  enable: { usage: "--enable <names>", about: "switch tools on", value: "names" },
  disable: { usage: "--disable <names>", about: "switch tools off", value: "names" },
  tools: { usage: "--tools <names>", about: "only these tools", value: "names" },
} as const;

const programFlags = {
  programs: { usage: "--programs", about: "add run_program, so that the model can call many tools in one program" },
} as const;

/** Choose the tools and what they may reach. */
export const toolFlags: typeof choiceFlags & typeof programFlags = { ...choiceFlags, ...programFlags };

export const sandboxFlags = {
  shell: {
    usage: "--shell <shell>",
    about: "shell of run_bash: sh, bash or a path (default: bash if it is found, or else sh)",
  },
  sandbox: {
    usage: "--sandbox",
    about: "run_bash: run commands in a sandbox, or fail without one (default: if there is one)",
  },
  noSandbox: { usage: "--no-sandbox", about: "run_bash: commands with all your rights" },
  sandboxAllow: {
    usage: "--sandbox-allow <names>",
    about: "allow commands in the sandbox to use network or sockets, or to change protected paths such as .git/config",
    value: "names",
  },
} as const;

/** Flags on which calls run, are asked about, or are refused. */
export const permissionFlags = {
  // Those of `@toolcrib/policy`, which is not loaded for them: a conversation shows its prompt before.
  mode: {
    usage: "--mode <mode>",
    about: "what runs if no rule decides (default: ask; full for tools call and mcp serve)",
    value: ["ask", "plan", "read-only", "accept-edits", "full"],
  },
  allow: { usage: "--allow <rule>", about: "calls that run, such as 'run_bash(npm test *)'", value: "rules" },
  ask: { usage: "--ask <rule>", about: "calls that need your answer, even if a rule allows them", value: "rules" },
  deny: { usage: "--deny <rule>", about: "calls that never run, such as 'effect:read(.env)'", value: "rules" },
} as const;

export const mcpFlag = {
  mcp: { usage: "--mcp", about: "the tools of all servers in .mcp.json, too" },
  protocol: {
    usage: "--protocol <revision>",
    about: "the revision to speak, in place of that of the entry",
    value: ["legacy", "auto", "2026-07-28"],
  },
} as const;

const noMcpFlag = {
  noMcp: { usage: "--no-mcp", about: "no servers, not even those you have allowed" },
} as const;

const modelFlags = {
  model: {
    usage: "-m, --model <provider/model>",
    about: "openai, anthropic, openrouter, ollama, lmstudio, llamacpp, openai-compatible or offline",
  },
  baseUrl: { usage: "--base-url <url>", about: "the address of the provider, for -m" },
  // A model itself says which of them it takes.
  reasoning: {
    usage: "--reasoning <effort>",
    about: "how much the model thinks",
    value: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
  },
  cacheTtl: {
    usage: "--cache-ttl <time>",
    about: "how long Anthropic caches a prompt (default: 5m)",
    value: ["5m", "1h"],
  },
} as const;

/** Lists the ways to a language model, for a user who has none. */
export const connectionAdvice: readonly string[] = [
  "set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY",
  "start a model server on this machine (Ollama, LM Studio, llama.cpp)",
  "name a model with -m provider/model",
];

/** The first two, a line each, for a conversation that has none. */
export const shortConnectionAdvice: string = connectionAdvice
  .slice(0, 2)
  .map((way) => `  ${way}`)
  .join("\n");

const limitFlags = {
  maxSteps: { usage: "--max-steps <n>", about: "most replies of the model (default: 50)", value: "count" },
  noContextFiles: { usage: "--no-context-files", about: "read no AGENTS.md as instructions" },
  noSkills: { usage: "--no-skills", about: "no skills of this folder or yours" },
} as const;

const sessionFlags = {
  continue: { usage: "-c, --continue", about: "continue the last conversation of this directory" },
  resume: { usage: "-r, --resume [session]", about: "continue a conversation: its number, id or file, or pick one" },
} as const;

type AgentFlags = typeof modelFlags &
  typeof limitFlags &
  typeof toolFlags &
  typeof sandboxFlags &
  typeof permissionFlags;

/** Flags on how an agent talks to a model, and not about what. */
export const agentFlags: AgentFlags = {
  ...modelFlags,
  ...limitFlags,
  ...toolFlags,
  ...sandboxFlags,
  ...permissionFlags,
};

export const conversationFlags: AgentFlags & typeof sessionFlags & typeof mcpFlag & typeof noMcpFlag = {
  ...agentFlags,
  ...sessionFlags,
  ...mcpFlag,
  ...noMcpFlag,
};

export const flagHeadings: readonly (readonly [heading: string, flags: object])[] = [
  ["Model", modelFlags],
  ["Conversation", { ...limitFlags, ...sessionFlags }],
  ["MCP servers", { ...mcpFlag, ...noMcpFlag }],
  ["Tools", choiceFlags],
  ["Programs", programFlags],
  ["Commands (run_bash)", sandboxFlags],
  ["Permissions (rules can be repeated)", permissionFlags],
];

export type ModelFlags = FlagsOf<typeof modelFlags>;
export type SessionFlags = FlagsOf<typeof sessionFlags>;
export type McpFlag = FlagsOf<typeof mcpFlag>;
