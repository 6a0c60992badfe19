import type { ToolCallInfo } from "@toolcrib/core";
import type { AnyMcpError } from "../errors.ts";
import type { ListedTool } from "../mapping.ts";
import { changedTools, type McpToolChange } from "./fingerprint.ts";
import { boundInstructions } from "./instructions.ts";
import { type RemoteConnection, type RemoteOptions, RemoteServer, SessionExpired } from "./remoteServer.ts";
import type { ResolvedServer } from "./serverConfig.ts";
import { instructionsChanged, invalidTool, storeFailed, toolChanged, toolsLeftOut } from "./toolErrors.ts";
import type { KnownTool, McpToolStore } from "./toolStore.ts";

export type AcceptChange = (change: McpToolChange) => boolean | Promise<boolean>;

interface MountedServerOptions extends Omit<RemoteOptions, "onToolsChanged"> {
  name: string;
  target: ResolvedServer;
  /** Digest of the server's entry. */
  config: string;
  isTrusted: boolean;
  store?: McpToolStore | undefined;
  accept: AcceptChange;
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

/** A server whose tools are compared with those that were accepted. */
export class MountedServer {
  readonly name: string;
  /** True if its hints are used as traits. */
  readonly isTrusted: boolean;
  /** Undefined where the server cannot ask. */
  readonly questions: RemoteOptions["questions"];
  readonly #remote: RemoteServer;
  readonly #options: MountedServerOptions;
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

  constructor(options: MountedServerOptions) {
    this.name = options.name;
    this.isTrusted = options.isTrusted;
    this.questions = options.questions;
    this.#options = options;
    this.#remote = new RemoteServer(options.name, options.target, {
      ...options,
      onToolsChanged: () => {
        this.#changes += 1;
      },
    });
  }

  /**
   * Returns the accepted tools, and the problems of the others. Starts the server unless its tools are known from an earlier run with
   * the same entry.
   */
  async open(): Promise<{ tools: readonly ListedTool[]; problems: AnyMcpError[] }> {
    const known = await this.#options.store?.load(this.name).catch((cause: unknown) => {
      throw storeFailed(this.name, "could not be read", cause);
    });
    this.#accepted = known?.tools ?? [];
    this.#instructions = known?.instructions;
    if (known?.config !== this.#options.config) await this.#check(await this.#remote.connect());
    return {
      tools: this.#accepted.filter((tool) => !tool.gone && !this.#refused.has(tool.name)),
      problems: [
        ...this.#refused.values(),
        ...this.#leftOut,
        ...[this.#instructionsProblem, this.#storeProblem].flatMap((problem) => problem ?? []),
      ],
    };
  }

  /** Calls a tool, provided that it is still as it was accepted. */
  async call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    try {
      return await this.#call(tool, args, call);
    } catch (error) {
      if (!(error instanceof SessionExpired)) throw error;
      return this.#call(tool, args, call);
    }
  }

  /** Gives the instructions as they were accepted; "" if there are none, or others now. */
  get instructions(): string {
    return (this.#instructionsProblem ? undefined : this.#instructions) ?? "";
  }

  /** Sends another request; starts the server if it does not run. Rejects with the error of the server, without secrets. */
  async request(method: string, params: Record<string, unknown>, call: Pick<ToolCallInfo, "signal">): Promise<unknown> {
    const send = async (): Promise<unknown> => (await this.#remote.connect()).request(method, params, call);
    return await send().catch((error: unknown) => {
      if (!(error instanceof SessionExpired)) throw error;
      return send();
    });
  }

  /** Starts the server if it does not run. */
  async offers(capability: "resources" | "prompts"): Promise<boolean> {
    return (await this.#remote.connect()).offers(capability);
  }

  close(): Promise<void> {
    return this.#remote.close();
  }

  /** Returns `text` without the secrets in the entry of the server. */
  redact(text: string): string {
    return this.#remote.redact(text);
  }

  /** Checks the connection that the call uses: a server that was restarted may have other tools. */
  async #call(tool: string, args: Record<string, unknown>, call: ToolCallInfo): Promise<unknown> {
    const connection = await this.#remote.connect();
    if (this.#checked?.connection !== connection || this.#checked.changes !== this.#changes) {
      await this.#check(connection);
    }
    const refused = this.#refused.get(tool);
    if (refused) throw refused;
    return connection.callTool(tool, args, call);
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
    const { tools: found, leftOut } = await connection.listTools();
    const refused = new Map<string, AnyMcpError>();
    this.#leftOut = [];
    for (const { tool, problem } of leftOut) {
      if (tool === undefined) this.#leftOut.push(toolsLeftOut(this.name, problem));
      else refused.set(tool, invalidTool(this.name, tool, problem));
    }
    const kept = new Map<string, ListedTool>();
    for (const change of changedTools(this.name, this.#accepted, found)) {
      if (await this.#options.accept(change)) continue;
      refused.set(change.found.name, toolChanged(change));
      kept.set(change.found.name, change.accepted);
    }
    this.#refused = refused;
    const names = new Set(found.map((tool) => tool.name));
    const missing = this.#accepted.filter((tool) => !names.has(tool.name)).slice(0, maxGone);
    this.#accepted = [
      ...found.map((tool) => claimsOf(kept.get(tool.name) ?? tool)),
      ...missing.map((tool) => ({ ...claimsOf(tool), gone: true as const })),
    ];
    await this.#compareInstructions(connection);
    this.#checked = { connection, changes };
    // With a refused tool no digest is saved, so that the next run compares again and reports again.
    const isRefused = refused.size + this.#leftOut.length > 0 || this.#instructionsProblem !== undefined;
    const known = { config: isRefused ? "" : this.#options.config, tools: [...this.#accepted] };
    try {
      await this.#options.store?.save(this.name, { ...known, instructions: this.#instructions });
    } catch (cause) {
      this.#storeProblem = storeFailed(this.name, "could not be saved, so that later changes may go unnoticed", cause);
    }
  }

  async #compareInstructions(connection: RemoteConnection): Promise<void> {
    const found = boundInstructions(this.redact(connection.instructions ?? ""));
    const before = this.#instructions;
    const isSame = before === undefined || before === found;
    const isAccepted = isSame || (await this.#options.accept(asChange(this.name, before, found)));
    this.#instructionsProblem = isAccepted ? undefined : instructionsChanged(this.name);
    if (isAccepted) this.#instructions = found;
  }
}

function asChange(server: string, before: string, found: string): McpToolChange {
  const asTool = (description: string): ListedTool => ({ name: "instructions", description });
  return { server, isInstructions: true, accepted: asTool(before), found: asTool(found) };
}

function claimsOf({ name, description, inputSchema, annotations }: ListedTool): ListedTool {
  return { name, description, inputSchema, annotations };
}
