import type { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "@toolcrib/core/internal";

/** Milliseconds between the request to end (SIGTERM) and the end (SIGKILL). */
const signalGraceMs = 1000;

const lookEveryMs = 20;

/**
 * Waits until its input closes, which happens however this process ends, and then ends the group. A handler in this process
 * would not run after SIGKILL, and a library must not install signal handlers.
 */
const watchScript = `
read -r _
sleep 1
kill -s TERM -- "-$1" 2>/dev/null || exit 0
sleep 1
kill -s KILL -- "-$1" 2>/dev/null
`;

/** A process group, named by its first process, that does not outlive this process. Windows has none. */
export class ProcessGroup {
  readonly #leader: number;
  readonly #watch: ReturnType<typeof startWatch>;
  #ending: Promise<void> | undefined;

  /**
   * `start` is Node's `spawn`: this package starts no program itself, so that who installs file tools alone has no code that could.
   */
  constructor(start: typeof spawn, leader: number) {
    this.#leader = leader;
    this.#watch = startWatch(start, leader);
  }

  /** Asks every process of the group to end, and ends those that stay. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    await endGroup(this.#leader);
    this.#watch.kill("SIGKILL");
  }
}

function startWatch(start: typeof spawn, leader: number) {
  const watch = start("/bin/sh", ["-c", watchScript, "toolcrib-watch", String(leader)], {
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    // In its own group: Ctrl-C in a terminal signals the whole group of the program.
    detached: true,
  });
  // Without a shell the end of its input is all that tells a server to end.
  watch.on("error", () => undefined);
  watch.stdin.on("error", () => undefined);
  watch.unref();
  if ("unref" in watch.stdin && typeof watch.stdin.unref === "function") watch.stdin.unref();
  return watch;
}

async function endGroup(leader: number): Promise<void> {
  if (!signalGroup(leader, "SIGTERM")) return;
  for (let waited = 0; waited < signalGraceMs; waited += lookEveryMs) {
    await sleep(lookEveryMs);
    if (!signalGroup(leader, 0)) return;
  }
  signalGroup(leader, "SIGKILL");
}

/** Signals a group; false if no process is left in it that can be signalled. */
function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  return attempt(() => process.kill(-leader, signal)) ?? false;
}
