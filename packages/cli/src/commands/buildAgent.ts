import { join } from "node:path";
import { Agent, type AgentOptions, newSessionFile, type Provider } from "@toolcrib/agent";
import type { Instructions } from "@toolcrib/agent/instructions";
import { isJournal, type SessionFolder } from "@toolcrib/agent/sessions";
import type { Guard } from "@toolcrib/core";
import type { McpMount } from "@toolcrib/mcp";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import type { Undo } from "@toolcrib/tools-fs/undo";
import type { LoadedSkills } from "../config/skills.ts";
import type { FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import type { conversationFlags } from "../sharedFlags.ts";
import { oneLine } from "../terminal/render.ts";
import type { HookSettings, Hooks } from "../tools/hooks.ts";
import type { PermissionFlags, Permissions, WorkMode } from "../tools/permissions.ts";
import { createToolSet, rootsOf, type ToolFlags } from "../tools/toolSet.ts";
import type { SessionLock } from "./sessionLock.ts";
import { instructionsFor, systemPromptFor, workplaceOf } from "./systemPrompt.ts";

/** Flags of the commands that talk to a model. */
export interface ConversationFlags extends FlagsOf<typeof conversationFlags>, ToolFlags, PermissionFlags, HookSettings {
  /** Not a flag: servers that are mounted already, in place of those of `mcp`. They are closed with the conversation. */
  readonly mounted?: McpMount | undefined;
  /** Not a flag: the name that a new conversation gets. */
  readonly sessionName?: string | undefined;
  /** Not a flag: ends the connection to the remote of `on`, also while it is made. */
  readonly signal?: AbortSignal | undefined;
}

/** What the agents of a conversation are made of. */
export interface AgentParts {
  readonly flags: ConversationFlags;
  readonly program: Program;
  readonly sessions: SessionFolder;
  readonly permissions: Permissions;
  readonly guard: Guard;
  readonly provider: Provider;
  readonly mount: McpMount | undefined;
  readonly jobs: BackgroundJobs | undefined;
  readonly hooks: Hooks;
  readonly skills: LoadedSkills;
  /** Whether a new conversation can be saved. */
  readonly isSaved: boolean;
}

export interface BuiltAgent {
  readonly agent: Agent;
  readonly instructions: Instructions;
  readonly undo: Undo | undefined;
  /** Makes the system prompt for another mode. */
  promptFor(mode: WorkMode): string;
}

/** Makes the agent that continues the conversation of `file`, or starts a new one, and locks its journal. */
export async function buildAgent(parts: AgentParts, lock: SessionLock, file?: string): Promise<BuiltAgent> {
  const { flags, program, sessions, guard, provider, mount, jobs, skills, hooks, isSaved } = parts;
  const { terminal } = program;
  const { remote } = flags;
  const roots = rootsOf(flags);
  const permissions = { ...parts.permissions, policy: { ...parts.permissions.policy, guard } };
  const instructions = await instructionsFor(roots, flags, program);
  const isOwn = file !== undefined && (await isJournal(file));
  const journal = isOwn ? file : isSaved ? newSessionFile(sessions.path) : undefined;
  // The tools of a remote could not read them.
  const outputs = remote ? undefined : sessions.outputsOf(journal);
  // An editor has its own.
  const old = flags.directory === undefined && !remote ? sessions.undoOf(journal) : undefined;
  const onError = ({ message }: Error): void => terminal.aside(message);
  const undoOptions = old === undefined ? undefined : { directory: old, root: roots, onError };
  const undo = undoOptions && (await import("@toolcrib/tools-fs/undo")).createUndo(undoOptions);
  const options: AgentOptions = {
    tools: (context) =>
      createToolSet(flags, permissions, program, {
        context,
        more: [...skills.tools, ...(mount?.tools ?? [])],
        readable: skills.readable,
        outputs,
        jobs,
        hooks,
        undo: undo?.middleware,
      }),
    sessionContextFilePath: `${(journal ?? join(sessions.path, "session")).replace(/\.jsonl$/, "")}.json`,
    stopRepeats: {},
    ...(journal !== undefined && { journal, sessionName: flags.sessionName }),
    onJournalError: ({ message }) => terminal.aside(`${message} The conversation goes on unsaved.`),
    ...(flags.maxSteps !== undefined && { maxSteps: flags.maxSteps }),
  };
  const promptFor = (mode: WorkMode): string =>
    systemPromptFor(roots, instructions, remote, mode, [skills.catalogue, mount?.instructions ?? ""]);
  // A file that cannot be resumed leaves the conversation before, and its journal, as they were.
  const agent = await lock.moveTo(journal, async () => {
    const opened = file === undefined ? new Agent(provider, options) : await Agent.resume(provider, file, options);
    const before = workplaceOf(opened.systemPrompt);
    opened.setSystemPrompt(promptFor(parts.permissions.mode));
    const now = workplaceOf(opened.systemPrompt);
    if (before !== undefined && before !== now)
      terminal.aside(`This conversation was about files in ${oneLine(before, 200)}, not in ${now}.`);
    return opened;
  });
  return { agent, instructions, undo, promptFor };
}
