import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { sharedFolder, sharedServer } from "@toolcrib/testing";
import { afterEach, describe, expect, test } from "vitest";
import { command, type OnTerminal, onTerminal } from "../../fixtures/command.ts";

const bareServer = fileURLToPath(new URL("../../../mcp/fixtures/bareServer.mjs", import.meta.url));
const folder = sharedFolder("chat");
/** The answer that is being streamed. */
let answer: ServerResponse | undefined;
const asked: string[] = [];

let isQuick = false;
const url = await sharedServer(async (request, response) => {
  const { messages } = (await json(request)) as { messages: { content: string }[] };
  asked.push(messages.at(-1)?.content ?? "");
  response.setHeader("content-type", "text/event-stream");
  answer = response;
  say("");
  if (isQuick) finish();
});
afterEach(() => {
  asked.length = 0;
});

function chunk(delta: object, finish_reason: string | null = null): void {
  const body = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  answer?.write(`data: ${JSON.stringify({ ...body, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
}

function say(content: string): void {
  chunk({ role: "assistant", content });
}

function finish(): void {
  if (isQuick) say("Quick.");
  chunk({}, "stop");
  answer?.end("data: [DONE]\n\n");
}

/** Resolves when the model has been asked `text`. */
async function isAsked(text: string): Promise<void> {
  while (asked.at(-1) !== text) await new Promise((resolve) => setTimeout(resolve, 10));
}

function flags(...more: string[]): { args: string[]; options: { cwd: string; env: Record<string, string> } } {
  const args = ["chat", "-m", "openai-compatible/m", "--base-url", `${url}/v1`, ...more];
  return { args, options: { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state") } } };
}

async function chatting(size: { columns?: number; rows?: number } = {}): Promise<OnTerminal> {
  isQuick = false;
  const { args, options } = flags();
  const program = onTerminal(args, { columns: 60, ...options, ...size });
  await program.shows(idle(""));
  return program;
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** A screen that ends with `rows`, what the turn takes, and what is typed. */
const during = (rows: string, typed = ""): RegExp =>
  new RegExp(`(?:^|\\n)${quoted(rows)}\\n\\n.*Esc stops.*\\n${quoted(`> ${typed}`.trim())}$`);
/** A screen that ends with `rows`, the model, and what is typed. */
const idle = (rows: string, typed = ""): RegExp =>
  new RegExp(`${quoted(rows)}\\n\\nopenai-compatible/m.*\\n${quoted(`> ${typed}`.trim())}$`);

describe("a conversation on a terminal", () => {
  test("shows what is typed during an answer below it, and keeps it", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One");
    await program.shows(during("> hello\n\nOne"));
    program.type("my nxt");
    say(" and a half\n");
    await program.shows(during("One and a half", "my nxt"));
    say("\nTwo and\nThree\nFo");
    await program.shows(during("One and a half\n\nTwo and\nThree\nFo", "my nxt"));
    await program.enter("\u001b[D\u001b[De", during("Three\nFo", "my next"));
    say("ur\n");
    await program.shows(during("Three\nFour", "my next"));
    await program.enter("!", during("Four", "my ne!xt"));
    say("Five");
    finish();
    await program.shows(idle("Four\nFive", "my ne!xt"));
    program.type("\r");
    await isAsked("my ne!xt");
    finish();
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["hello", "my ne!xt"]);
  });

  test("shows all rows of a long typed message, and every row of the answer once", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One\n");
    await program.shows(during("One"));
    program.type("typed ".repeat(15).trim());
    const rows = `${"typed ".repeat(9).trim()}\n  ${"typed ".repeat(6).trim()}`;
    await program.shows(during("One", rows));
    say("Two\n");
    await program.shows(during("One\nTwo", rows));
    say("Three\n");
    await program.shows(during("One\nTwo\nThree", rows));
    await program.enter("\u0003", "Interrupted.");
    program.type("\u0003\u0004");
    expect(await program.ended).toBe(0);
    expect(program.screen.text.match(/^(One|Two|Three)$/gm)).toEqual(["One", "Two", "Three"]);
  });

  test("sends messages that were entered during an answer in order, and shows each once", async () => {
    const program = await chatting();
    program.type("one\rtwo\r");
    await isAsked("one");
    say("First.");
    await program.shows(/First\.\n\n.*\nwaits: two\n>$/);
    await program.enter("three\r", /\nwaits: two\nwaits: three\n>$/);
    finish();
    await program.shows(/First\.\n\n> two\n/);
    await isAsked("two");
    say("Second.\n");
    finish();
    await program.shows(/Second\.\n\n> three\n/);
    await isAsked("three");
    finish();
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["one", "two", "three"]);
    expect(program.screen.text.match(/^> \w+/gm)).toEqual(["> one", "> two", "> three"]);
    expect(program.screen.text).not.toContain("waits");
  });

  test.each([
    ["wider", 70, 20],
    ["narrower", 30, 20],
    ["lower", 60, 8],
  ])("keeps the answer when the window gets %s", async (_how, columns, rows) => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One\nTwo and");
    await program.shows(during("One\nTwo and"));
    program.resize(columns, rows);
    say(" three");
    await program.shows(during("One\nTwo and three"));
    program.resize(80, 24);
    program.type("typed");
    say("\nFour\n");
    await program.shows(during("One\nTwo and three\nFour", "typed"));
    program.resize(columns, rows);
    say("Five\n");
    await program.shows(during("One\nTwo and three\nFour\nFive", "typed"));
    finish();
    program.type("\r");
    await isAsked("typed");
    finish();
    await program.shows(idle("> typed"));
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(program.screen.text).toMatch(/> hello\n\nOne\nTwo and three\nFour\nFive\n\n> typed/);
  });

  test("Up takes a message that waits back into the line", async () => {
    const program = await chatting();
    program.type("one\r");
    await isAsked("one");
    await program.enter("two\rthree\r", /\nwaits: two\nwaits: three\n>$/);
    await program.enter("\u001b[A", /\nwaits: two\n> three$/);
    await program.enter("!\r", /\nwaits: two\nwaits: three!\n>$/);
    await program.enter("\u001b[A\u0015\u001b[A\u0015", /Esc stops.*\n>$/);
    finish();
    await program.shows(idle("> one"));
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["one"]);
  });

  test("keeps what is typed before the first prompt", async () => {
    isQuick = true;
    const { args, options } = flags();
    const program = onTerminal(args, options);
    await program.enter("early\r", idle("> early\n\nQuick."));
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["early"]);
  });

  test("Ctrl-C clears what is typed; a second one leaves; exit 130", async () => {
    const program = await chatting();
    await program.enter("half a li", /> half a li$/);
    await program.enter("\u0003", /\nCtrl-C again, or \/quit, leaves\. · .*\n>$/);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
    expect(asked).toEqual([]);
  });

  test("with --plain the first Ctrl-C at the prompt says how to leave, too", async () => {
    const { args, options } = flags("--plain");
    const program = onTerminal(args, options);
    await program.shows(/\n>$/);
    await program.enter("\u0003", /\nCtrl-C again, or \/quit, leaves\.\n>$/);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
  });

  test("a Ctrl-C that comes after more typing clears that, and does not leave", async () => {
    const program = await chatting();
    await program.enter("half", /> half$/);
    program.type("\u0003");
    const hint = /\nCtrl-C again, or \/quit, leaves\. · .*\n>$/;
    await program.shows(hint);
    await program.enter("other", /\nopenai-compatible\/m · .*\n> other$/);
    await program.enter("\u0003", hint);
    expect(program.screen.text.match(/leaves\./g)).toHaveLength(1);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
  });
});

describe("lines that are piped in", () => {
  test.each([[[]], [["-c"]], [["--mcp"]]])("are all read with %j", async (more) => {
    isQuick = true;
    const { args, options } = flags();
    await command(args, { ...options, input: "before\n" });
    await command(["mcp", "add", "own", process.execPath, bareServer], options);
    asked.length = 0;
    const { code, stdout } = await command([...args, ...more], { ...options, input: "one\n/help\ntwo" });
    expect({ code, stdout, asked }).toEqual({ code: 0, stdout: "Quick.\nQuick.\n", asked: ["one", "two"] });
  });
});
