import {
  CLIENT_CAPABILITIES_META_KEY,
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
import { reasonOf } from "../errors.ts";
import { type CallResult, record, toCallResult } from "../mapping.ts";
import { rootsFrom } from "./clientRoots.ts";
import type { RegistriesByRoots } from "./registriesByRoots.ts";

/** What clients are told about the server. */
interface ServerIdentity {
  name: string;
  version: string;
  instructions?: string | undefined;
}

/** Milliseconds that a client may take to list its roots. */
const rootsTimeoutMs = 10_000;

const rootsKey = "roots";

/** The SDK's server for one connection, or for one request where the transport has no sessions. */
export function createProtocolServer(
  registries: RegistriesByRoots,
  { name, version, instructions }: ServerIdentity,
): Server {
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: { listChanged: true } },
      debouncedNotificationMethods: ["notifications/tools/list_changed"],
      inputRequired: { roundTimeoutMs: rootsTimeoutMs },
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  const handlers = new RequestHandlers(server, registries);
  server.setRequestHandler("tools/list", () => handlers.list());
  server.setRequestHandler("tools/call", (request, context) => handlers.call(request.params, context));
  server.setNotificationHandler("notifications/roots/list_changed", () => handlers.forgetRoots());
  server.onclose = registries.onChange(() => handlers.notifyIfChanged());
  return server;
}

class RequestHandlers {
  readonly #server: Server;
  readonly #registries: RegistriesByRoots;
  #registry: AnyToolRegistry | undefined;
  #roots: readonly string[] | undefined;
  /** The schemas that the client has listed or was notified of. The registry returns the same array until its tools change. */
  #listed: readonly ChatTool[] | undefined;

  constructor(server: Server, registries: RegistriesByRoots) {
    this.#server = server;
    this.#registries = registries;
  }

  async list(): Promise<{ tools: McpTool[] }> {
    const registry = await this.#registries.get(this.#roots);
    this.#registry = registry;
    this.#listed = registry.getEnabledSchemas();
    return { tools: this.#listed.map((schema) => toMcpTool(schema, registry.get(schema.function.name))) };
  }

  async call(
    { name, arguments: args }: { name: string; arguments?: Record<string, unknown> | undefined },
    context: ServerContext,
  ): Promise<CallResult | InputRequiredResult> {
    if (this.#registries.usesRoots && this.#offersRoots(context) && !this.#takeRoots(context)) {
      return inputRequired({ inputRequests: { [rootsKey]: inputRequired.listRoots() } });
    }
    const progress = progressReporter(context);
    const outcome = await this.#invoke(name, args, {
      signal: context.mcpReq.signal,
      callId: String(context.mcpReq.id),
      onProgress: progress?.report,
    });
    await progress?.sent();
    if (!outcome.ok && outcome.error.code === "not_found") {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, outcome.error.message);
    }
    return toCallResult(name, outcome);
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
    return registry.invoke(name, args, options);
  }

  async #current(): Promise<AnyToolRegistry> {
    const registry = await this.#registries.get(this.#roots);
    this.#registry = registry;
    this.notifyIfChanged();
    return registry;
  }

  #offersRoots({ mcpReq }: ServerContext): boolean {
    const declared = record(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY];
    const capabilities = declared ?? this.#server.getClientCapabilities();
    return record(capabilities).roots !== undefined;
  }

  /** Takes the roots that came with this request. False when the client has to be asked for them. */
  #takeRoots({ mcpReq }: ServerContext): boolean {
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
