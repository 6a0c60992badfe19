import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { ScreenModel } from "./screenModel.ts";
import {
  environment,
  type OpenTerminal,
  openTerminal,
  runOnTerminal,
  type TerminalOptions,
  type TerminalProgram,
} from "./startOnTerminal.ts";

interface SharedProgram extends TerminalProgram {
  /** Resolves to the longest block of the program's event loop meanwhile: milliseconds of processor time, as of `watchLoop`. */
  longestBlock(during: () => Promise<void>): Promise<number>;
}

type Start = (args: readonly string[], options: TerminalOptions) => SharedProgram;

/** What the host prints behind a program that has ended: a control string that no screen shows. */
const endMark = /\u001b\]9777;(\d+)\u0007$/;

/** Terminals whose program has ended, by the command that may be called on them again. */
const free = new Map<string, Set<OpenTerminal>>();

function openHost(bin: string, options: TerminalOptions): OpenTerminal {
  const terminal = openTerminal([fileURLToPath(new URL("./commandHost.mjs", import.meta.url)), bin], options, true);
  void terminal.closed.then(() => free.get(bin)?.delete(terminal));
  return terminal;
}

/**
 * The toolcrib command on terminals, for all tests of this process in as few processes as run at a time: its start is most of what a
 * call costs. What ends the process itself (a signal, a closed window, a second Ctrl-C) does so here too, and the next call starts
 * another. Where the start or the end of the process is what is tested, use `startOnTerminal`.
 */
export function sharedTerminal(bin: string): Start {
  const own = free.get(bin) ?? new Set();
  free.set(bin, own);
  const busy = new Set<OpenTerminal>();
  afterAll(() => {
    for (const { child } of busy) child.stdin?.end();
  });
  return (args, options) => {
    const { cwd, env = {}, columns = 80, rows = 24 } = options;
    const [terminal = openHost(bin, options)] = own;
    own.delete(terminal);
    busy.add(terminal);
    void terminal.closed.then(() => busy.delete(terminal));
    const endOf = (screen: ScreenModel): number | undefined => {
      const [mark, code] = endMark.exec(screen.raw) ?? [];
      if (mark === undefined) return undefined;
      screen.raw = screen.raw.slice(0, -mark.length);
      busy.delete(terminal);
      own.add(terminal);
      return Number(code);
    };
    terminal.order({ columns, rows });
    terminal.child.send({ args, cwd, env: { ...environment, ...env }, columns, rows });
    return {
      ...runOnTerminal(terminal, new ScreenModel(columns, rows), endOf),
      async longestBlock(during) {
        const { child } = terminal;
        child.send({ watch: true });
        await during();
        child.send({ watch: false });
        const [{ longestMs }] = (await once(child, "message")) as [{ longestMs: number }];
        return longestMs;
      },
    };
  };
}
