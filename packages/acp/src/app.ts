import { realpath } from "node:fs/promises";
import { type AgentApp, agent, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { configOptions, modeState, select } from "./choices.ts";
import { type Explain, invalidParams, toRequestError } from "./errors.ts";
import type { LiveSession } from "./liveSession.ts";
import type { Sessions } from "./sessions.ts";
import type { AcpSessionInfo } from "./types.ts";

export interface AppOptions {
  readonly name: string;
  readonly version: string;
  readonly explain?: Explain | undefined;
  /** True if sessions can be opened again. */
  readonly reopens: boolean;
  readonly listSessions?: ((cwd: string | undefined) => Promise<readonly AcpSessionInfo[]>) | undefined;
}

/** Turns a handler into one whose failures are answered in words. */
type Answering = <Context, Response>(
  answer: (context: Context) => Promise<Response>,
) => (context: Context) => Promise<Response>;

/** Creates the handlers of a client's requests. */
export function createApp(options: AppOptions, sessions: Sessions): AgentApp {
  const answering: Answering = (answer) => async (context) => {
    try {
      return await answer(context);
    } catch (error) {
      throw toRequestError(error, options.explain);
    }
  };
  const app = agent({ name: options.name });
  answerStart(app, options, sessions);
  answerOpening(app, options, sessions, answering);
  answerTurns(app, sessions, answering);
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

function answerOpening(
  app: AgentApp,
  { reopens, listSessions }: AppOptions,
  sessions: Sessions,
  answering: Answering,
): void {
  app
    .onRequest(
      "session/new",
      answering(async ({ params, client }) => {
        const live = await sessions.open(params, client);
        return { sessionId: live.session.id, ...opened(live) };
      }),
    )
    .onRequest(
      "session/close",
      answering(async ({ params }) => {
        await sessions.close(params.sessionId);
        return {};
      }),
    );
  if (reopens)
    app
      .onRequest(
        "session/load",
        answering(async ({ params, client }) =>
          opened(await sessions.open(params, client, params.sessionId, (live) => live.replay())),
        ),
      )
      .onRequest(
        "session/resume",
        answering(async ({ params, client }) =>
          opened(await sessions.open(params, client, params.sessionId, (live) => live.tellQuestion())),
        ),
      );
  if (listSessions)
    app.onRequest(
      "session/list",
      answering(async ({ params }) => {
        const { cwd } = params;
        // One that is gone may still have its conversations.
        const found = await listSessions(cwd ? await realpath(cwd).catch(() => cwd) : undefined);
        return { sessions: found.map(({ id, changedAt, ...rest }) => infoOf(id, changedAt, rest)) };
      }),
    );
}

function answerTurns(app: AgentApp, sessions: Sessions, answering: Answering): void {
  app
    .onRequest(
      "session/prompt",
      answering(({ params, signal }) => sessions.prompt(params.sessionId, params.prompt, signal)),
    )
    .onRequest(
      "session/set_mode",
      answering(({ params }) =>
        sessions.with(params.sessionId, async (live) => {
          await select(live.session, "mode", params.modeId);
          await live.announceChoices();
          return {};
        }),
      ),
    )
    .onRequest(
      "session/set_config_option",
      answering(({ params }) =>
        sessions.with(params.sessionId, async (live) => {
          await select(live.session, params.configId, params.value);
          await live.announceChoices();
          return { configOptions: configOptions(live.session) };
        }),
      ),
    )
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId));
}

/** Describes a session that a client has opened; sends its commands and problems right after. */
function opened(live: LiveSession) {
  setImmediate(() => void live.announce());
  const modes = modeState(live.session);
  return { configOptions: configOptions(live.session), ...(modes && { modes }) };
}

function infoOf(
  sessionId: string,
  changedAt: Date | undefined,
  { cwd, title }: Omit<AcpSessionInfo, "id" | "changedAt">,
) {
  return {
    sessionId,
    cwd,
    ...(title !== undefined && { title }),
    ...(changedAt && { updatedAt: changedAt.toISOString() }),
  };
}
