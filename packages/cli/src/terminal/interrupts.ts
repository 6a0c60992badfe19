import type { Host } from "../host.ts";

/** Ctrl-C: the first ends the request that runs, a second one (or one while nothing runs) the program. */
export interface Interrupts {
  /** Runs one request; its signal fires at the first Ctrl-C. */
  during<Result>(request: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Ends the request that runs, and never the program. */
  readonly stop: () => void;
  /** As if Ctrl-C was pressed; for a prompt that reads the key itself. */
  readonly interrupt: () => void;
  /** Called at an interrupt while nothing runs: whether the program goes on. */
  onIdle: (() => boolean) | undefined;
  close(): void;
}

/** Handles interrupts. `onAbort` is called when a request is being ended; `end` ends the program. */
export function catchInterrupts(
  host: Pick<Host, "on" | "off">,
  onAbort: () => void,
  end: (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => void,
): Interrupts {
  let running: AbortController | undefined;
  const interrupt = (): void => {
    if (running && !running.signal.aborted) {
      onAbort();
      running.abort(new Error("Interrupted"));
    } else if (running || !interrupts.onIdle?.()) {
      end("SIGINT");
    }
  };
  const stop = (): void => {
    if (!running?.signal.aborted) running?.abort(new Error("Interrupted"));
  };
  const listeners = [
    ["SIGINT", interrupt],
    ["SIGTERM", () => end("SIGTERM")],
    ["SIGHUP", () => end("SIGHUP")],
  ] as const;
  for (const [signal, listener] of listeners) host.on(signal, listener);
  const interrupts: Interrupts = {
    interrupt,
    stop,
    onIdle: undefined,
    async during(request) {
      const controller = new AbortController();
      running = controller;
      try {
        return await request(controller.signal);
      } finally {
        running = undefined;
      }
    },
    close() {
      for (const [signal, listener] of listeners) host.off(signal, listener);
    },
  };
  return interrupts;
}
