import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createTerminal, type Terminal } from "./terminal.ts";

class FakeStream extends Writable {
  readonly isTTY: boolean;
  text = "";

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function fakeTerminal(isTTY: boolean, env: NodeJS.ProcessEnv = {}): { terminal: Terminal; written: () => string } {
  const streams = { stdout: new FakeStream(isTTY), stderr: new FakeStream(isTTY) };
  return { terminal: createTerminal(env, streams), written: () => streams.stdout.text + streams.stderr.text };
}

// A window title, a cleared line, C1's CSI and OSC, DEL, line separators and a change of direction.
const hostile =
  "a\u001b]0;owned\u0007\u001b[2K\u001b[31m\r\u009b2K\u009d0;x\u009c\u007f\u0085\u2028\u2029\u202e\u2066b\tc\n";
const harmless = "a]0;owned[2K[31m2K0;xb\tc\n";

test.each<[string, (terminal: Terminal) => void]>([
  ["data", (terminal) => terminal.data(hostile)],
  ["the answer", (terminal) => terminal.print([{ to: "stdout", text: hostile }])],
  ["what is told of the turn", (terminal) => terminal.print([{ to: "stderr", text: hostile }])],
  ["a note", (terminal) => terminal.note(hostile.trimEnd())],
  ["a list", (terminal) => terminal.show(hostile)],
])("%s reaches a screen without control characters, but for line breaks and tabs", (_what, print) => {
  const { terminal, written } = fakeTerminal(true, { NO_COLOR: "1" });
  print(terminal);
  expect(written()).toBe(harmless);
});

test("our own colours stay; colour codes in the text of others are removed", () => {
  const { terminal, written } = fakeTerminal(true, { TERM: "xterm" });
  terminal.note(terminal.style.red("no \u001b[8mhidden\u001b[0m"));
  expect(written()).toBe("\u001b[31mno [8mhidden[0m\u001b[39m\n");
});

test("data for another program is passed on byte by byte", () => {
  const { terminal, written } = fakeTerminal(false);
  terminal.data(hostile);
  expect(written()).toBe(hostile);
});

test("while a question is shown other output waits, and is written afterwards", async () => {
  const { terminal, written } = fakeTerminal(true);
  await terminal.alone(async (write) => {
    write("Run it? ");
    terminal.note("Run another? yes");
    terminal.print([{ to: "stdout", text: "answer" }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(written()).toBe("Run it? ");
    write("n\n");
  });
  expect(written()).toBe("answerRun it? n\nRun another? yes\n");
});

test("the last row of a running command is shown in place, and is gone when anything else is written", () => {
  const { terminal, written } = fakeTerminal(true, { NO_COLOR: "1" });
  terminal.print([{ to: "tail", text: "  one" }]);
  terminal.tail(`  two\u001b[2J${"x".repeat(200)}`);
  terminal.note("done");
  terminal.tail("");
  const row = `  two<U+001B>[2J${"x".repeat(63)}`;
  expect(written()).toBe(`  one\r\r\u001b[K${row}\r\r\u001b[Kdone\n`);
});

test.each<[string, boolean, NodeJS.ProcessEnv]>([
  ["elsewhere than on a screen", false, {}],
  ["on a screen that cannot take a row off", true, { TERM: "dumb" }],
])("it is not shown %s", (_where, isTTY, env) => {
  const { terminal, written } = fakeTerminal(isTTY, env);
  terminal.tail("  one");
  terminal.note("done");
  expect(written()).toBe("done\n");
});
