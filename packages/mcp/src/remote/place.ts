import { McpError, reasonOf, shownName } from "../errors.ts";
import type { PlaceOptions, PlaceTool } from "./frames.ts";
import { PlaceConnection } from "./placeConnection.ts";
import type { ResolvedTarget } from "./target.ts";

/** A place, connected at the first use, and again at the next use after the connection has ended. */
export class Place {
  readonly name: string;
  readonly #target: ResolvedTarget;
  readonly #options: PlaceOptions;
  readonly #startTimeoutMs: number;
  #connecting: Promise<PlaceConnection> | undefined;
  /** Those that are not closed yet, also while they are made. */
  readonly #open = new Set<PlaceConnection>();
  /** The names and schemas that the tools here were made of. */
  #listed: string | undefined;
  #isClosed = false;

  constructor(target: ResolvedTarget, options: PlaceOptions, startTimeoutMs: number) {
    this.name = target.name;
    this.#target = target;
    this.#options = options;
    this.#startTimeoutMs = startTimeoutMs;
  }

  /** Rejects with an McpError (`server_failed`). */
  connection(): Promise<PlaceConnection> {
    if (this.#isClosed) return Promise.reject(this.failed("was closed"));
    if (!this.#connecting) {
      const forget = (): void => {
        if (this.#connecting === connecting) this.#connecting = undefined;
      };
      const connecting = this.#connect(forget);
      this.#connecting = connecting;
      connecting.catch(forget);
    }
    return this.#connecting;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((connection) => this.#end(connection)));
  }

  failed(what: string, cause?: unknown): McpError {
    const message = `The place ${shownName(this.name)} ${what}`;
    return new McpError("server_failed", this.name, message, cause === undefined ? {} : { cause }, cause);
  }

  async #connect(onEnd: () => void): Promise<PlaceConnection> {
    let connection: PlaceConnection | undefined;
    let timer: NodeJS.Timeout | undefined;
    const ended = (): void => {
      onEnd();
      if (connection) void this.#end(connection);
    };
    try {
      connection = new PlaceConnection(this.#target, this.#options, ended);
      this.#open.add(connection);
      const late = new Promise<never>((_, reject) => {
        const tell = (): void => reject(new Error(`it did not answer within ${this.#startTimeoutMs} ms`));
        timer = setTimeout(tell, this.#startTimeoutMs);
      });
      const { tools } = await Promise.race([connection.ready, late]);
      this.#checkSame(tools);
      return connection;
    } catch (cause) {
      // Not waited for: what does not answer may not end either.
      if (connection) void this.#end(connection);
      throw this.failed(`cannot be used: ${reasonOf(cause)}`, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  async #end(connection: PlaceConnection): Promise<void> {
    await connection.close();
    this.#open.delete(connection);
  }

  #checkSame(tools: readonly PlaceTool[]): void {
    const listed = JSON.stringify(tools);
    this.#listed ??= listed;
    if (listed !== this.#listed) throw new Error("it has other tools than before; connect to it anew");
  }
}
