import type { FlagsOf } from "./flags.ts";

/** Choose the tools and what they may reach. */
export const toolFlags = {
  on: {
    usage: "--on <address>",
    about:
      "the tools of a remote: docker:NAME, podman:NAME, image:NAME, ssh:HOST, kubectl:POD, each with :/FOLDER or not, command:WORDS",
  },
  root: {
    usage: "--root <dir>",
    about: "a directory the file tools may not leave; may be given again (default: this one)",
    value: "list",
  },
  enable: { usage: "--enable <names>", about: "switch tools on", value: "names" },
  disable: { usage: "--disable <names>", about: "switch tools off", value: "names" },
  tools: { usage: "--tools <names>", about: "only these tools", value: "names" },
} as const;

/** How `run_bash` runs its commands. */
export const sandboxFlags = {
  shell: {
    usage: "--shell <shell>",
    about: "of run_bash: sh, bash or the path of one (default: bash where it is found, else sh)",
  },
  sandbox: {
    usage: "--sandbox",
    about: "run_bash: commands in a sandbox; an error where there is none (default: where there is one)",
  },
  noSandbox: { usage: "--no-sandbox", about: "run_bash: commands with all your rights" },
  sandboxAllow: {
    usage: "--sandbox-allow <names>",
    about: "what commands in the sandbox may use: network, sockets, or change: protected paths such as .git/config",
    value: "names",
  },
} as const;

/** Which calls run, are asked about, or are refused. */
export const permissionFlags = {
  // Those of `@toolcrib/policy`, which is not loaded for them: a conversation shows its prompt before.
  mode: {
    usage: "--mode <mode>",
    about: "what runs where no rule decides (default: ask; full for tools call and mcp serve)",
    value: ["ask", "plan", "read-only", "accept-edits", "full"],
  },
  allow: {
    usage: "--allow <rule>",
    about: "calls that run, such as 'run_bash(npm test *)'",
    value: "rules",
  },
  ask: {
    usage: "--ask <rule>",
    about: "calls that are asked about, whatever allows them",
    value: "rules",
  },
  deny: {
    usage: "--deny <rule>",
    about: "calls that never run, such as 'effect:read(.env)'",
    value: "rules",
  },
} as const;

export const mcpFlag = {
  mcp: { usage: "--mcp", about: "also the tools of the servers in .mcp.json, which it starts (see toolcrib mcp)" },
} as const;

/** Which model answers, and how. */
const modelFlags = {
  model: {
    usage: "-m, --model <provider/model>",
    about: "openai, anthropic, openrouter, ollama, lmstudio, llamacpp, openai-compatible or offline",
  },
  baseUrl: { usage: "--base-url <url>", about: "where the provider is, for -m" },
  // Which of them a model takes it says itself.
  reasoning: {
    usage: "--reasoning <effort>",
    about: "how much the model thinks",
    value: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
  },
  cacheTtl: {
    usage: "--cache-ttl <time>",
    about: "how long Anthropic keeps a prompt (default: 5m)",
    value: ["5m", "1h"],
  },
} as const;

const limitFlags = {
  maxSteps: { usage: "--max-steps <n>", about: "replies of the model at most (default: 50)", value: "count" },
  noContextFiles: { usage: "--no-context-files", about: "read no AGENTS.md as instructions" },
  noSkills: { usage: "--no-skills", about: "no skills of this folder or yours" },
} as const;

/** Which conversation goes on. */
const sessionFlags = {
  continue: { usage: "-c, --continue", about: "go on with the last one of this directory" },
  resume: {
    usage: "-r, --resume [session]",
    about: "go on with one: its number, id or file, or the one that you pick",
  },
} as const;

type AgentFlags = typeof modelFlags &
  typeof limitFlags &
  typeof toolFlags &
  typeof sandboxFlags &
  typeof permissionFlags;

/** How an agent talks to a model, and not about what. */
export const agentFlags: AgentFlags = {
  ...modelFlags,
  ...limitFlags,
  ...toolFlags,
  ...sandboxFlags,
  ...permissionFlags,
};

/** The flags of the commands that hold a conversation. */
export const conversationFlags: AgentFlags & typeof sessionFlags & typeof mcpFlag = {
  ...agentFlags,
  ...sessionFlags,
  ...mcpFlag,
};

/** The heading of each shared flag in help. */
export const flagHeadings: readonly (readonly [heading: string, flags: object])[] = [
  ["Model", modelFlags],
  ["Conversation", { ...limitFlags, ...sessionFlags, ...mcpFlag }],
  ["Tools", toolFlags],
  ["Commands (run_bash)", sandboxFlags],
  ["Permissions (rules may be given again)", permissionFlags],
];

export type ModelFlags = FlagsOf<typeof modelFlags>;
export type SessionFlags = FlagsOf<typeof sessionFlags>;
export type McpFlag = FlagsOf<typeof mcpFlag>;
