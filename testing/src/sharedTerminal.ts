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

type Start = (args: readonly string[], options: TerminalOptions) => TerminalProgram;

/** What the host prints behind a program that has ended: a control string that no screen shows. */
const endMark = /\u001b\]9777;(\d+)\u0007$/;

/**
 * The toolcrib command on terminals, for all tests of a file in as few processes as run at a time: its start is most of what a call
 * costs. What ends the process itself (a signal, a closed window, a second Ctrl-C) does so here too, and the next call starts another.
 * Where the start or the end of the process is what is tested, use `startOnTerminal`.
 */
export function sharedTerminal(bin: string): Start {
  const host = fileURLToPath(new URL("./commandHost.mjs", import.meta.url));
  const opened = new Set<OpenTerminal>();
  const free: OpenTerminal[] = [];
  afterAll(() => {
    for (const { child } of opened) child.stdin?.end();
  });
  const open = (options: TerminalOptions): OpenTerminal => {
    const terminal = openTerminal([host, bin], options, true);
    opened.add(terminal);
    void terminal.closed.then(() => {
      opened.delete(terminal);
      if (free.includes(terminal)) free.splice(free.indexOf(terminal), 1);
    });
    return terminal;
  };
  return (args, options) => {
    const { cwd, env = {}, columns = 80, rows = 24 } = options;
    const terminal = free.pop() ?? open(options);
    const endOf = (screen: ScreenModel): number | undefined => {
      const [mark, code] = endMark.exec(screen.raw) ?? [];
      if (mark === undefined) return undefined;
      screen.raw = screen.raw.slice(0, -mark.length);
      free.push(terminal);
      return Number(code);
    };
    terminal.order({ columns, rows });
    terminal.child.send({ args, cwd, env: { ...environment, ...env }, columns, rows });
    return runOnTerminal(terminal, new ScreenModel(columns, rows), endOf);
  };
}
