import { realpath } from "node:fs/promises";
import { type AgentApp, agent, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { configOptions, modeState, select } from "./choices.ts";
import { invalidParams } from "./errors.ts";
import type { LiveSession } from "./liveSession.ts";
import type { Sessions } from "./sessions.ts";
import type { AcpSession, AcpSessionInfo } from "./types.ts";

export interface AppOptions {
  readonly name: string;
  readonly version: string;
  /** True if sessions can be opened again. */
  readonly reopens: boolean;
  readonly listSessions?: ((cwd: string | undefined) => Promise<readonly AcpSessionInfo[]>) | undefined;
}

/** Creates the handlers of a client's requests. */
export function createApp(options: AppOptions, sessions: Sessions): AgentApp {
  const app = agent({ name: options.name });
  answerStart(app, options, sessions);
  answerOpening(app, options, sessions);
  answerTurns(app, sessions);
  return app;
}

function answerStart(app: AgentApp, { name, version, reopens, listSessions }: AppOptions, sessions: Sessions): void {
  app
    .onRequest("initialize", ({ params }) => {
      sessions.capabilities = params.clientCapabilities ?? {};
      const again = { ...(reopens && { resume: {} }), ...(listSessions && { list: {} }) };
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name, version },
        authMethods: [],
        agentCapabilities: {
          loadSession: reopens,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true },
          sessionCapabilities: { additionalDirectories: {}, close: {}, ...again },
        },
      };
    })
    .onRequest("authenticate", () => {
      throw invalidParams("There is nothing to sign in to: keys come from the environment of this program");
    });
}

function answerOpening(app: AgentApp, { reopens, listSessions }: AppOptions, sessions: Sessions): void {
  app
    .onRequest("session/new", async ({ params, client }) => {
      const live = await sessions.open(params, client);
      return { sessionId: live.session.id, ...opened(live) };
    })
    .onRequest("session/close", async ({ params }) => {
      await sessions.close(params.sessionId);
      return {};
    });
  if (reopens)
    app
      .onRequest("session/load", async ({ params, client }) =>
        opened(await sessions.open(params, client, params.sessionId, (live) => live.replay())),
      )
      .onRequest("session/resume", async ({ params, client }) =>
        opened(await sessions.open(params, client, params.sessionId, (live) => live.tellQuestion())),
      );
  if (listSessions)
    app.onRequest("session/list", ({ params: { cwd } }) =>
      sessions.inWords(async () => {
        // One that is gone may still have its conversations.
        const found = await listSessions(cwd ? await realpath(cwd).catch(() => cwd) : undefined);
        return { sessions: found.map(infoOf) };
      }),
    );
}

function answerTurns(app: AgentApp, sessions: Sessions): void {
  const choose = (id: string, option: string, value: unknown): Promise<AcpSession> =>
    sessions.with(id, async (live) => {
      await select(live.session, option, value);
      await live.announceChoices();
      return live.session;
    });
  app
    .onRequest("session/prompt", ({ params, signal }) => sessions.prompt(params.sessionId, params.prompt, signal))
    .onRequest("session/set_mode", async ({ params }) => {
      await choose(params.sessionId, "mode", params.modeId);
      return {};
    })
    .onRequest("session/set_config_option", async ({ params }) => ({
      configOptions: configOptions(await choose(params.sessionId, params.configId, params.value)),
    }))
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId));
}

/** Describes a session that a client has opened; sends its commands and problems right after. */
function opened(live: LiveSession) {
  setImmediate(() => void live.announce());
  const modes = modeState(live.session);
  return { configOptions: configOptions(live.session), ...(modes && { modes }) };
}

function infoOf({ id: sessionId, cwd, title, changedAt }: AcpSessionInfo) {
  const updatedAt = changedAt?.toISOString();
  return { sessionId, cwd, ...(title !== undefined && { title }), ...(updatedAt !== undefined && { updatedAt }) };
}
