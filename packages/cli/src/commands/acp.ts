import { basename } from "node:path";
import { type AcpSession, type AcpSessionRequest, permissionModes, serveAcp } from "@toolcrib/acp";
import { keyedModels } from "@toolcrib/agent/models";
import type { Mode } from "@toolcrib/policy";
import { configuredValues } from "../config/applyConfig.ts";
import type { ExitReason } from "../exitReasons.ts";
import { messageOf } from "../explain.ts";
import { chooseAnother, chooseModel, type ModelChoice } from "../model/modelChoice.ts";
import type { Program } from "../program.ts";
import { agentFlags } from "../sharedFlags.ts";
import { sessionsOf, titleOf } from "../state/sessionFile.ts";
import { mount } from "../tools/mcpMount.ts";
import { createPermissions, describePermissions, policyMode } from "../tools/permissions.ts";
import { changesOf } from "../tools/remote.ts";
import { rootsOf } from "../tools/toolSet.ts";
import { version } from "../version.ts";
import type { ConversationFlags } from "./buildAgent.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

/** `toolcrib acp`: until the editor closes standard input, or Ctrl-C. */
export const acp: DefineCommand = defineCommand({
  flags: agentFlags,
  more: `
An editor starts this command and speaks the Agent Client Protocol with it on standard input and output.
Each session works in the folder that the editor names, and in those of --root; with --on in the folder there.`,
  async run(program, flags, _args, command): Promise<ExitReason> {
    const { interrupts, folders, host } = program;
    // Made now, so that wrong flags are reported here and not to the editor.
    createPermissions(flags, rootsOf(flags, program.cwd), program, "ask");
    // The program's own handler ends it at once, and the tools and servers that run would be left.
    host.stdout.removeAllListeners("error");
    const flagsIn = async (directory: string): Promise<ConversationFlags> => ({
      ...flags,
      ...(await configuredValues(command, program, directory)),
    });
    const serving = serveAcp({
      name: "toolcrib",
      version: version(),
      input: host.stdin,
      output: host.stdout,
      explain: messageOf,
      createSession: async (request) => openSession(program, await flagsIn(request.cwd), request),
      async openSession(id, request) {
        const found = (await sessionsOf(request.cwd, folders).list()).find(({ file }) => idOf(file) === id);
        return found && openSession(program, { ...(await flagsIn(request.cwd)), resume: found.file }, request);
      },
      async listSessions(cwd = program.cwd) {
        const sessions = await sessionsOf(cwd, folders).list();
        return sessions.map((session) => ({
          id: idOf(session.file),
          cwd,
          title: titleOf(session),
          changedAt: session.changedAt,
        }));
      },
    });
    await interrupts.during((signal) => {
      signal.addEventListener("abort", () => void serving.close(), { once: true });
      return serving.closed;
    });
    return "ok";
  },
});

async function openSession(
  program: Program,
  flags: ConversationFlags,
  { cwd, roots, mcpServers, signal }: AcpSessionRequest,
): Promise<AcpSession> {
  const choice = await chooseModel(flags, program.env);
  const { provider } = choice;
  const servers = Object.entries(mcpServers).map(([name, entry]) => [
    name,
    "command" in entry ? { ...entry, cwd } : entry,
  ]);
  // They are the user's own: nobody else could have put them into the editor's settings.
  const mounted =
    servers.length === 0
      ? undefined
      : await mount({ mcpServers: Object.fromEntries(servers) }, { ...program, cwd }, { signal });
  const root = flags.on === undefined ? [...new Set([...roots, ...(flags.root ?? [])])] : flags.root;
  const given = { ...flags, root, directory: cwd, mounted, signal };
  const conversation = await openConversation(provider, given, program, { asker: () => undefined }).catch(
    async (error: unknown) => {
      await mounted?.close();
      throw error;
    },
  );
  return sessionOf(conversation, choice, program.env, mounted?.problems);
}

function sessionOf(
  conversation: Conversation,
  first: ModelChoice,
  env: NodeJS.ProcessEnv,
  problems: readonly { readonly message: string }[] = [],
): AcpSession {
  const { permissions, journal } = conversation;
  const model = `${first.provider.name}/${first.provider.model}`;
  let current = model;
  return {
    id: journal === undefined ? crypto.randomUUID() : idOf(journal),
    agent: conversation.agent,
    problems: problems.map(({ message }) => message),
    get policy() {
      return permissions.policy;
    },
    modes: {
      get current() {
        return policyMode(permissions.mode);
      },
      available: permissionModes,
      select: (mode) => permissions.setMode(mode as Mode),
    },
    models: {
      get current() {
        return current;
      },
      available: [...new Set([model, ...keyedModels()])].map((id) => ({ id, name: id })),
      async select(id) {
        conversation.useModel((await chooseAnother(first, id, env)).provider);
        current = id;
      },
    },
    commands: [
      {
        name: "permissions",
        description: "What may run here",
        run: async () => (await describePermissions(permissions)).join("\n"),
      },
    ],
    changes: (call, signal) => changesOf(call, conversation.agent.toolRegistry, permissions, signal),
    close: () => conversation.close(),
  };
}

/** Returns the id of a conversation for editors: the name of its journal. */
function idOf(journal: string): string {
  return basename(journal, ".jsonl");
}
