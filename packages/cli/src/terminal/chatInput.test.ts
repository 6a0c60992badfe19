import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasTerminals, sharedFolder, startOnTerminal, startProgram, type TerminalProgram } from "@toolcrib/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const folder = sharedFolder("chat");
let server: Server;
/** The answer that is being streamed. */
let answer: ServerResponse | undefined;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
    asked.push(messages.at(-1)?.content ?? "");
    response.setHeader("content-type", "text/event-stream");
    answer = response;
    say("");
    if (isQuick) finish();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  asked.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let isQuick = false;

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
  const { port } = server.address() as AddressInfo;
  const args = ["chat", "-m", "openai-compatible/m", "--base-url", `http://127.0.0.1:${port}/v1`, ...more];
  return { args, options: { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state") } } };
}

async function chatting(): Promise<TerminalProgram> {
  isQuick = false;
  const { args, options } = flags();
  const program = startOnTerminal(bin, args, { ...options, columns: 60 });
  await program.shows(/\n>$/);
  return program;
}

describe.skipIf(!hasTerminals())("a conversation on a terminal", () => {
  test("shows what is typed during an answer below the complete lines of the answer, and keeps it", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One");
    await program.shows(/\nOne$/);
    program.type("my nxt");
    say(" and a half\n");
    await program.shows(/\nOne and a half\n> my nxt$/);
    say("Two and\nThree\nFo");
    await program.shows(/\nOne and a half\nTwo and\nThree\n> my nxt$/);
    program.type("\u001b[D\u001b[De");
    await program.shows(/\nThree\n> my next$/);
    say("ur\n");
    await program.shows(/\nThree\nFour\n> my next$/);
    program.type("!");
    await program.shows(/\nFour\n> my ne!xt$/);
    say("Five");
    finish();
    await program.shows(/\nFour\nFive\n> my ne!xt$/);
    program.type("\r");
    await isAsked("my ne!xt");
    finish();
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["hello", "my ne!xt"]);
  });

  test("clears all rows of a long typed line, and no row of the answer", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One\n");
    await program.shows(/\nOne$/);
    const long = "typed ".repeat(15).trim();
    program.type(long);
    const rows = [`> ${long}`.slice(0, 60), `> ${long}`.slice(60)].map((row) => row.trimEnd());
    await program.shows((text) => text.endsWith(["One", ...rows].join("\n")));
    say("Two\n");
    await program.shows((text) => text.endsWith(["One", "Two", ...rows].join("\n")));
    say("Three\n");
    await program.shows((text) => text.endsWith(["One", "Two", "Three", ...rows].join("\n")));
    program.type("\u0003");
    await program.shows("Interrupted.");
    program.type("\u0003\u0004");
    expect(await program.ended).toBe(0);
  });

  test("sends lines that were entered during an answer in order, and shows each once", async () => {
    const program = await chatting();
    program.type("one\rtwo\r");
    await isAsked("one");
    say("First.");
    await program.shows(/First\.$/);
    program.type("three\r");
    finish();
    await program.shows(/First\.\n> two$/);
    await isAsked("two");
    say("Second.\n");
    finish();
    await program.shows(/Second\.\n> three$/);
    await isAsked("three");
    finish();
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["one", "two", "three"]);
    expect(program.screen.text.match(/^> \w+/gm)).toEqual(["> one", "> two", "> three"]);
  });

  test("keeps the answer when the window changes its size", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("One\nTwo and");
    await program.shows(/\nOne\nTwo and$/);
    program.resize(70, 20);
    say(" three");
    await program.shows(/\nOne\nTwo and three$/);
    program.resize(80, 24);
    program.type("typed");
    say("\nFour\n");
    await program.shows(/\nOne\nTwo and three\nFour\n> typed$/);
    program.resize(90, 24);
    say("Five\n");
    await program.shows(/\nOne\nTwo and three\nFour\nFive\n> typed$/);
    finish();
    program.type("\r");
    await isAsked("typed");
    finish();
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(program.screen.text).toMatch(/\nOne\nTwo and three\nFour\nFive\n> typed/);
  });

  test("keeps what is typed before the first prompt", async () => {
    isQuick = true;
    const { args, options } = flags();
    const program = startOnTerminal(bin, args, options);
    program.type("early\r");
    await program.shows(/> early\nQuick\.\n>$/);
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(asked).toEqual(["early"]);
  });

  test("Ctrl-C clears what is typed; a second one leaves; exit 130", async () => {
    const program = await chatting();
    program.type("half a li");
    await program.shows(/> half a li$/);
    program.type("\u0003");
    await program.shows(/Ctrl-C again, or \/quit, leaves\.\n>$/);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
    expect(asked).toEqual([]);
  });

  test("Ctrl-C ends the answer after its line, and the conversation goes on", async () => {
    const program = await chatting();
    program.type("hello\r");
    await isAsked("hello");
    say("Half a li");
    await program.shows(/Half a li$/);
    program.type("\u0003");
    await program.shows(/\nHalf a li\nEnding the request.*\n+Interrupted\.\n>$/);
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
  });
});

test.skipIf(!hasTerminals())("toolcrib by itself on a terminal is chat", async () => {
  const program = startOnTerminal(bin, [], { cwd: folder, env: { XDG_STATE_HOME: join(folder, "bare-state") } });
  await program.shows(/\/help lists commands[\s\S]*\n>$/);
  program.type("/quit\r");
  expect(await program.ended).toBe(0);
});

describe("lines that are piped in", () => {
  test.each([[[]], [["-c"]], [["--mcp"]]])("are all read with %j", async (more) => {
    isQuick = true;
    const { args, options } = flags();
    await startProgram(bin, args, { ...options, input: "before\n" }).ended;
    const mcp = startProgram(bin, ["mcp", "add", "own", process.execPath, bin, "mcp", "serve"], options);
    await mcp.ended;
    asked.length = 0;
    const { code, stdout } = await startProgram(bin, [...args, ...more], { ...options, input: "one\n/help\ntwo" })
      .ended;
    expect({ code, stdout, asked }).toEqual({ code: 0, stdout: "Quick.\nQuick.\n", asked: ["one", "two"] });
  });
});
