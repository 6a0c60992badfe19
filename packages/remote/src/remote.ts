import { messageOf } from "@toolcrib/core/text";
import type { ResolvedAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { RemoteError } from "./errors.ts";
import type { ListedTool, RemoteOptions } from "./frames.ts";

/** A remote, connected at the first use, and again at the next use after the connection has ended. */
export class Remote {
  readonly name: string;
  readonly #address: ResolvedAddress;
  readonly #options: RemoteOptions;
  readonly #startTimeoutMs: number;
  #connecting: Promise<Connection> | undefined;
  /** Those that are not closed yet, also while they are made. */
  readonly #open = new Set<Connection>();
  /** The names and schemas that the tools here were made of. */
  #listed: string | undefined;
  #isClosed = false;

  constructor(address: ResolvedAddress, options: RemoteOptions, startTimeoutMs: number) {
    this.name = address.name;
    this.#address = address;
    this.#options = options;
    this.#startTimeoutMs = startTimeoutMs;
  }

  /** Rejects with a RemoteError. */
  connection(): Promise<Connection> {
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

  failed(what: string, cause?: unknown): RemoteError {
    return new RemoteError(this.name, what, cause);
  }

  async #connect(onEnd: () => void): Promise<Connection> {
    let connection: Connection | undefined;
    let timer: NodeJS.Timeout | undefined;
    const ended = (): void => {
      onEnd();
      if (connection) void this.#end(connection);
    };
    try {
      connection = new Connection(this.#address, this.#options, ended);
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
      throw this.failed(`cannot be used: ${messageOf(cause)}`, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  async #end(connection: Connection): Promise<void> {
    await connection.close();
    this.#open.delete(connection);
  }

  #checkSame(tools: readonly ListedTool[]): void {
    const listed = JSON.stringify(tools);
    this.#listed ??= listed;
    if (listed !== this.#listed) throw new Error("its tools have changed; call connectTools again");
  }
}
