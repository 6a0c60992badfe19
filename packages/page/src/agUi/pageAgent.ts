import { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";

type RunInput = Parameters<HttpAgent["run"]>[0];
type RunEvents = ReturnType<HttpAgent["run"]>;
type Run = HttpAgent["runAgent"];
type Connect = HttpAgent["connectAgent"];

/**
 * An HttpAgent whose session outlives the page: `connectAgent` reads the session and the turn that runs, `abortRun` ends that turn on the server, and a
 * connection that is cut makes both reject. `url` is that of the handler, `threadId` the id of the session.
 */
export class PageAgent extends HttpAgent {
  #isDetached = false;

  override async runAgent(...[parameters, subscriber]: Parameters<Run>): ReturnType<Run> {
    return await this.#whole(() => super.runAgent(parameters, subscriber));
  }

  override async connectAgent(...[parameters, subscriber]: Parameters<Connect>): ReturnType<Connect> {
    this.abortController = new AbortController();
    // The server tells them anew; HttpAgent would refuse to connect without their answers.
    this.pendingInterrupts = [];
    return await this.#whole(() => super.connectAgent(parameters, subscriber));
  }

  protected override connect({ runId, protocolVersion }: RunInput): RunEvents {
    const query = new URLSearchParams({ runId, ...(protocolVersion !== undefined && { protocolVersion }) });
    const init = { headers: { ...this.headers, Accept: "text/event-stream" }, signal: this.abortController.signal };
    const events = runHttpRequest(() => this.fetch(`${this.#session}/stream?${query}`, init));
    return transformHttpEventStream(events, this.debugLogger);
  }

  /** Lets the server end the turn, whose stream then tells so. The connection is closed only if the server cannot be reached. */
  override abortRun(): void {
    const asked = this.fetch(`${this.#session}/stop`, { method: "POST", headers: this.headers });
    void asked.then(
      ({ ok }) => ok || super.abortRun(),
      () => super.abortRun(),
    );
  }

  override async detachActiveRun(): Promise<void> {
    this.#isDetached = true;
    await super.detachActiveRun();
  }

  get #session(): string {
    return `${this.url}/${encodeURIComponent(this.threadId)}`;
  }

  /** Rejects for a stream that ends before its run: HttpAgent takes it for a whole one. */
  async #whole<Result>(run: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    this.#isDetached = false;
    const { unsubscribe } = this.subscribe({ onRunFinishedEvent: over, onRunErrorEvent: over });
    try {
      const result = await run();
      if (isOver || this.#isDetached) return result;
    } finally {
      unsubscribe();
    }
    throw new Error("The connection was cut before the run had ended. The turn goes on; connectAgent reads it.");
  }
}
