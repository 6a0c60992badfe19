import {
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  type AnyToolRegistry,
  type ChatTool,
  type ExecuteOptions,
  type McpTool,
  ToolError,
  type ToolOutcome,
  type ToolProgress,
  toMcpTool,
} from "@toolcrib/core";
import { schemasForModel } from "@toolcrib/core/internal";
import { reasonOf } from "../errors.ts";
import { announcedSchema, type CallResult, toCallResult } from "../mapping.ts";
import { rootsFrom } from "./clientRoots.ts";
import { capabilitiesOf, earlierRound, questionsFor, roundState, withoutAnswer } from "./elicitation.ts";
import type { RegistriesByRoots } from "./registriesByRoots.ts";

/** The server's name, version and offers, as clients are told them. */
interface ServerIdentity {
  name: string;
  version: string;
  instructions?: string | undefined;
  /** Only tools with the trait `readOnly`. */
  readOnly?: boolean | undefined;
  /** Results carry `data` as `structuredContent`. */
  structured?: boolean | undefined;
}

/** Milliseconds that a client may take to list its roots. */
const rootsTimeoutMs = 10_000;

const rootsKey = "roots";

/** Makes the SDK's server for one connection, or for one request where the transport has no sessions. */
export function createProtocolServer(
  registries: RegistriesByRoots,
  { name, version, instructions, ...offer }: ServerIdentity,
): Server {
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: { listChanged: true } },
      debouncedNotificationMethods: ["notifications/tools/list_changed"],
      inputRequired: { roundTimeoutMs: rootsTimeoutMs },
      requestState: { verify: roundState.verify },
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  const handlers = new RequestHandlers(server, registries, offer);
  server.setRequestHandler("tools/list", () => handlers.list());
  server.setRequestHandler("tools/call", (request, context) => handlers.call(request.params, context));
  server.setNotificationHandler("notifications/roots/list_changed", () => handlers.forgetRoots());
  server.onclose = registries.onChange(() => handlers.notifyIfChanged());
  return server;
}

class RequestHandlers {
  readonly #server: Server;
  readonly #registries: RegistriesByRoots;
  readonly #offer: Pick<ServerIdentity, "readOnly" | "structured">;
  #registry: AnyToolRegistry | undefined;
  #roots: readonly string[] | undefined;
  /** The schemas that the client has listed or was notified of. The registry returns the same array until its tools change. */
  #listed: readonly ChatTool[] | undefined;
  /** The output schemas that the client has listed, by the tool's name. A server for one request does not know what was listed. */
  #announced: ReadonlyMap<string, McpTool["inputSchema"] | undefined> | undefined;

  constructor(server: Server, registries: RegistriesByRoots, offer: Pick<ServerIdentity, "readOnly" | "structured">) {
    this.#server = server;
    this.#registries = registries;
    this.#offer = offer;
  }

  async list(): Promise<{ tools: McpTool[] }> {
    const registry = await this.#registries.get(this.#roots);
    this.#registry = registry;
    this.#listed = registry.getEnabledSchemas();
    const offered = schemasForModel(this.#listed, registry).filter(({ function: { name } }) =>
      this.#offers(registry, name),
    );
    const tools = offered.map((schema) => toMcpTool(schema, registry.get(schema.function.name)));
    if (!this.#offer.structured) return { tools };
    const announced = new Map(
      registry.listTools().map(({ name, outputSchema }) => [name, announcedSchema(outputSchema)]),
    );
    this.#announced = announced;
    return { tools: tools.map((tool) => ({ ...tool, outputSchema: announced.get(tool.name) })) };
  }

  async call(
    { name, arguments: args }: { name: string; arguments?: Record<string, unknown> | undefined },
    context: ServerContext,
  ): Promise<CallResult | InputRequiredResult> {
    const rootsOffered = this.#registries.usesRoots && capabilitiesOf(this.#server, context).roots !== undefined;
    if (rootsOffered && !this.#takeRoots(context)) {
      return inputRequired({ inputRequests: { [rootsKey]: inputRequired.listRoots() } });
    }
    const progress = progressReporter(context);
    const questions = questionsFor(this.#server, context, name, args);
    const outcome = await this.#invoke(name, args, {
      signal: context.mcpReq.signal,
      callId: String(context.mcpReq.id),
      onProgress: progress?.report,
      approve: questions.approve,
      caller: questions.caller,
    });
    await progress?.sent();
    const question = await questions.next(outcome, rootsOffered ? this.#roots : undefined);
    if (question) return question;
    if (!outcome.ok && outcome.error.code === "not_found") {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, outcome.error.message);
    }
    const structured = this.#offer.structured ? { isAnnounced: this.#isAnnounced(name) } : undefined;
    return toCallResult(name, withoutAnswer(outcome), structured);
  }

  #isAnnounced(name: string): boolean {
    if (this.#announced) return this.#announced.get(name) !== undefined;
    return announcedSchema(this.#registry?.get(name)?.outputSchema) !== undefined;
  }

  forgetRoots(): void {
    this.#roots = undefined;
  }

  /** Notifies a client whose list of tools is out of date, once for each change. */
  notifyIfChanged(): void {
    const schemas = this.#registry?.getEnabledSchemas();
    if (!this.#listed || !schemas || schemas === this.#listed) return;
    // A registry made for other roots most often has the same tools.
    const differs = JSON.stringify(schemas) !== JSON.stringify(this.#listed);
    this.#listed = schemas;
    if (!differs) return;
    this.#server.sendToolListChanged().catch(() => {
      // The client has gone or takes no notifications.
    });
  }

  async #invoke(name: string, args: unknown, options: ExecuteOptions): Promise<ToolOutcome> {
    let registry: AnyToolRegistry;
    try {
      registry = await this.#current();
    } catch (cause) {
      const message = reasonOf(cause);
      return { ok: false, error: new ToolError({ code: "execution_failed", toolName: name, message, cause }) };
    }
    if (registry.isToolEnabled(name) && !this.#offers(registry, name)) {
      const message = `Tool not available: ${name} may change something, and this server is read-only`;
      return { ok: false, error: new ToolError({ code: "not_available", toolName: name, message, details: {} }) };
    }
    return registry.invoke(name, args, options);
  }

  #offers(registry: AnyToolRegistry, name: string): boolean {
    return !this.#offer.readOnly || registry.get(name)?.readOnly === true;
  }

  async #current(): Promise<AnyToolRegistry> {
    const registry = await this.#registries.get(this.#roots);
    this.#registry = registry;
    this.notifyIfChanged();
    return registry;
  }

  /** Takes the roots that came with this request. False when the client has to be asked for them. */
  #takeRoots(context: ServerContext): boolean {
    const { mcpReq } = context;
    const earlier = earlierRound(context)?.roots;
    if (earlier) {
      this.#roots = earlier;
      return true;
    }
    const answer = mcpReq.inputResponses?.[rootsKey];
    // Without a session no notification tells that roots have changed, so each request brings its own.
    if (answer === undefined) return this.#roots !== undefined && mcpReq.envelope === undefined;
    this.#roots = rootsFrom(answer);
    return true;
  }
}

/** Sends the progress of a tool in order, if the caller asked for it. MCP requires each value to be above the one before. */
function progressReporter({
  mcpReq,
}: ServerContext): { report: (progress: ToolProgress) => void; sent: () => Promise<void> } | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  let queue = Promise.resolve();
  const report = ({ progress = Number.isFinite(last) ? last + 1 : 0, total, message }: ToolProgress): void => {
    if (!(progress > last)) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    // A failed notification does not end the call: the signal of a client that has gone does.
    queue = queue.then(() => mcpReq.notify({ method: "notifications/progress", params })).catch(() => undefined);
  };
  return { report, sent: () => queue };
}
