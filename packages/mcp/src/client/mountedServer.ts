import { setTimeout as sleep } from "node:timers/promises";
import type { ToolCallInfo } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import type { AnyMcpError } from "../errors.ts";
import type { ListedTool } from "../mapping.ts";
import { changedTools, fingerprint, type McpToolChange } from "./fingerprint.ts";
import { boundInstructions } from "./instructions.ts";
import { burdenOf } from "./listedTools.ts";
import { type RemoteConnection, type RemoteOptions, RemoteServer, SessionExpired } from "./remoteServer.ts";
import { configDigest, type ResolvedServer } from "./serverConfig.ts";
import {
  instructionsChanged,
  leftOutTool,
  serverProblem,
  storeFailed,
  toolChanged,
  toolWithdrawn,
} from "./toolErrors.ts";
import type { KnownTool, McpToolStore } from "./toolStore.ts";

export type AcceptChange = (change: McpToolChange) => boolean | Promise<boolean>;

/** The changes of a server's tools since they were mounted. */
export interface ToolsChange {
  /** New tools, and those that differ from what is mounted. */
  readonly tools: readonly ListedTool[];
  /** Tools that the server does not list any more. */
  readonly withdrawn: readonly string[];
  readonly problems: readonly AnyMcpError[];
}

export interface MountedServerOptions extends Omit<RemoteOptions, "onToolsChanged"> {
  name: string;
  target: ResolvedServer;
  /** Digest of the server's entry. */
  config: string;
  /** True if its hints are used as traits. */
  isTrusted: boolean;
  /** True if its tools are kept out of requests until they are searched for. */
  isDeferred: boolean;
  store?: McpToolStore | undefined;
  accept: AcceptChange;
  /** Called after tools have changed; with it they are listed as soon as the server says so, and else at the next call. */
  onChange?: ((server: MountedServer, change: ToolsChange) => void) | undefined;
}

/** A comparison under way. */
interface Check {
  readonly connection: RemoteConnection;
  /** The number of changes announced before it began. */
  readonly changes: number;
  readonly done: Promise<void>;
}

/** The number of tools no longer listed that are remembered, so that a change is noticed when one comes back. */
const maxGone = 1000;
/** Milliseconds between two lists that nobody waits for. */
const refreshPauseMs = 250;

/** A server whose tools are compared with those that were accepted. */
export class MountedServer {
  readonly name: string;
  readonly remote: RemoteServer;
  readonly options: MountedServerOptions;
  #accepted: readonly KnownTool[] = [];
  #refused = new Map<string, AnyMcpError>();
  /** The number of times that the server has said that its tools changed. */
  #changes = 0;
  /** The connection whose tools were compared, and after how many changes. */
  #checked: { connection: RemoteConnection; changes: number } | undefined;
  #checking: Check | undefined;
  #leftOut: AnyMcpError[] = [];
  /** As they were accepted; undefined where none were seen yet. */
  #instructions: string | undefined;
  #instructionsProblem: AnyMcpError | undefined;
  #storeProblem: AnyMcpError | undefined;
  /** The fingerprints of what is mounted; undefined until it is. */
  #mounted: Map<string, string> | undefined;
  /** A digest of the problems that were told last. */
  #told = "";
  #isRefreshing = false;

  constructor(options: MountedServerOptions) {
    this.name = options.name;
    this.options = options;
    this.remote = new RemoteServer(options.name, options.target, {
      ...options,
      onToolsChanged: () => {
        this.#changes += 1;
        if (options.onChange) void this.#refresh();
      },
    });
  }

  /**
   * Returns the accepted tools, and the problems of the others. Starts the server unless its tools are known from an earlier run with
   * the same entry.
   */
  async open(): Promise<{ tools: readonly ListedTool[]; problems: AnyMcpError[] }> {
    const known = await this.options.store?.load(this.name).catch((cause: unknown) => {
      throw storeFailed(this.name, "could not be read", cause);
    });
    this.#accepted = known?.tools ?? [];
    this.#instructions = known?.instructions;
    if (known?.config === this.options.config) this.#told = known.told ?? "";
    else await this.#check(await this.remote.connect());
    const tools = this.#usable;
    const problems = this.#problems;
    const burden = this.options.isDeferred ? undefined : burdenOf(tools);
    if (burden !== undefined) problems.push(serverProblem("many_tools", this.name, burden));
    this.#mounted = new Map(tools.map((tool) => [tool.name, fingerprint(tool)]));
    return { tools, problems };
  }

  get #usable(): readonly ListedTool[] {
    return this.#accepted.filter((tool) => !tool.gone && !this.#refused.has(tool.name));
  }

  get #problems(): AnyMcpError[] {
    const others = [this.#instructionsProblem, this.#storeProblem].flatMap((problem) => problem ?? []);
    return [...this.#refused.values(), ...this.#leftOut, ...others];
  }

  /** Calls a tool, provided that it is still as it was accepted. */
  call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    return inAnySession(() => this.#call(tool, args, call));
  }

  /** Gives the instructions as they were accepted; "" if there are none, or others now. */
  get instructions(): string {
    return (this.#instructionsProblem ? undefined : this.#instructions) ?? "";
  }

  /** Sends another request; starts the server if it does not run. Rejects with the error of the server, without secrets. */
  request(method: string, params: Record<string, unknown>, call: Pick<ToolCallInfo, "signal">): Promise<unknown> {
    return inAnySession(async () => (await this.remote.connect()).request(method, params, call));
  }

  /** Starts the server if it does not run. */
  async offers(capability: "resources" | "prompts"): Promise<boolean> {
    return (await this.remote.connect()).offers(capability);
  }

  /** Checks the connection that the call uses: a server that was restarted may have other tools. */
  async #call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    const connection = await this.remote.connect();
    if (this.#checked?.connection !== connection || this.#checked.changes !== this.#changes) {
      await this.#check(connection);
    }
    const refused = this.#refused.get(tool);
    if (refused) throw refused;
    const known = this.#accepted.find(({ name }) => name === tool);
    if (!known || known.gone) throw toolWithdrawn(this.name, tool);
    return connection.callTool(known, args, call);
  }

  /** Lists the tools now; what is wrong is said to the next call. A server that says so at every list is asked now and then. */
  async #refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      do {
        await this.#check(await this.remote.connect());
        await sleep(refreshPauseMs, undefined, { ref: false });
      } while (this.#checked?.changes !== this.#changes);
    } catch {
      // Said to the next call.
    } finally {
      this.#isRefreshing = false;
    }
  }

  /** Compares with a list that is asked for after the last change. One comparison is under way and one waits, however often the server says that its tools changed. */
  #check(connection: RemoteConnection): Promise<void> {
    const running = this.#checking;
    if (running?.connection === connection) {
      if (running.changes === this.#changes) return running.done;
      // The first call that knows of a later change begins the next one, and the others join it.
      return running.done.catch(() => undefined).then(() => this.#check(connection));
    }
    const done = this.#compare(connection).finally(() => {
      if (this.#checking?.done === done) this.#checking = undefined;
    });
    this.#checking = { connection, changes: this.#changes, done };
    return done;
  }

  async #compare(connection: RemoteConnection): Promise<void> {
    const changes = this.#changes;
    const { tools: listed, leftOut } = await connection.listTools();
    const { lists } = this.options.target;
    const found = listed.filter(({ name }) => lists.isLetIn(name));
    const refused = new Map<string, AnyMcpError>();
    const names = [...listed.map(({ name }) => name), ...leftOut.flatMap(({ tool }) => tool ?? [])];
    this.#leftOut = lists.problems(names).map((problem) => serverProblem("unused_setting", this.name, problem));
    for (const { tool, problem, isUnsupported } of leftOut) {
      if (tool === undefined) this.#leftOut.push(serverProblem("tools_left_out", this.name, problem));
      else if (lists.isLetIn(tool))
        refused.set(tool, leftOutTool(isUnsupported ? "unsupported_tool" : "invalid_tool", this.name, tool, problem));
    }
    const kept = new Map<string, readonly ListedTool[]>();
    // The list that is mounted is taken as it is, but for what has changed.
    const isLater = this.#checked !== undefined || this.#mounted !== undefined;
    for (const change of changedTools(this.name, this.#accepted, found, isLater)) {
      if (await this.options.accept(change)) continue;
      refused.set(change.found.name, toolChanged(change));
      kept.set(change.found.name, change.accepted ? [change.accepted] : []);
    }
    this.#refused = refused;
    const present = new Set(found.map((tool) => tool.name));
    const missing = this.#accepted.filter((tool) => !present.has(tool.name)).slice(0, maxGone);
    this.#accepted = [
      ...found.flatMap((tool) => kept.get(tool.name) ?? tool).map(claimsOf),
      ...missing.map((tool) => ({ ...claimsOf(tool), gone: true as const })),
    ];
    await this.#compareInstructions(connection);
    this.#checked = { connection, changes };
    // While a change waits for the user no digest is saved, so that the next run compares again and reports again.
    const isWaiting = kept.size > 0 || this.#instructionsProblem !== undefined;
    const known = { tools: [...this.#accepted], instructions: this.#instructions, told: digestOf(this.#problems) };
    try {
      await this.options.store?.save(this.name, { config: isWaiting ? "" : this.options.config, ...known });
    } catch (cause) {
      this.#storeProblem = storeFailed(this.name, "could not be saved, so that later changes may go unnoticed", cause);
    }
    this.#tell();
  }

  /** Tells what differs from what is mounted. */
  #tell(): void {
    const problems = this.#problems;
    const told = digestOf(problems);
    const mounted = this.#mounted;
    if (!mounted) {
      this.#told = told;
      return;
    }
    const tools = this.#usable.filter((tool) => mounted.get(tool.name) !== fingerprint(tool));
    const gone = new Set(this.#accepted.flatMap(({ name, gone }) => (gone ? name : [])));
    const withdrawn = [...mounted.keys()].filter((name) => gone.has(name));
    if (tools.length + withdrawn.length === 0 && told === this.#told) return;
    this.#told = told;
    for (const tool of tools) mounted.set(tool.name, fingerprint(tool));
    for (const name of withdrawn) mounted.delete(name);
    // A failure of the one who is told must not fail the call that found the change.
    attempt(() => this.options.onChange?.(this, { tools, withdrawn, problems }));
  }

  async #compareInstructions(connection: RemoteConnection): Promise<void> {
    const found = boundInstructions(this.remote.redact(connection.instructions ?? ""));
    const before = this.#instructions;
    const isSame = before === undefined || before === found;
    const change = asChange(this.name, before ?? "", found);
    const isAccepted = isSame || (await this.options.accept(change));
    this.#instructionsProblem = isAccepted ? undefined : instructionsChanged(change);
    if (isAccepted) this.#instructions = found;
  }
}

/** Sends a request again if the server has lost the session, and so has not taken it. */
async function inAnySession(send: () => Promise<unknown>): Promise<unknown> {
  return await send().catch((error: unknown) => {
    if (!(error instanceof SessionExpired)) throw error;
    return send();
  });
}

function digestOf(problems: readonly AnyMcpError[]): string {
  return problems.length === 0 ? "" : configDigest(problems.map(({ message }) => message).sort());
}

function asChange(server: string, before: string, found: string): McpToolChange {
  const asTool = (description: string): ListedTool => ({ name: "instructions", description });
  return { server, isInstructions: true, accepted: asTool(before), found: asTool(found) };
}

function claimsOf({ name, description, inputSchema, annotations }: ListedTool): ListedTool {
  return { name, description, inputSchema, annotations };
}
