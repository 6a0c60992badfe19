import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith, replyEvents, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, homeFor, leave, modelAt, type OnTerminal } from "../../../fixtures/command.ts";

const work = homeFor("screen");
const wire = await sharedWireServer();

type Size = { readonly columns?: number; readonly rows?: number };

async function chatting(env: Record<string, string> = {}, size: Size = {}, ...flags: string[]): Promise<OnTerminal> {
  const program = work.onTerminal(["chat", ...modelAt(wire), ...flags], { env, ...size });
  await program.shows(/lists\s+commands\.[\s\S]*\n>$/);
  return program;
}

const messages = (): string[] =>
  wire.requests.map(({ body }) => (body.messages as { role: string; content: string }[]).at(-1)?.content ?? "");

/** The same on every run. */
const steady = (screen: string): string => `${screen.replace(/\d+(?:\.\d)? s\b/g, "N s")}\n`;

const answer = `# Two files

The project has **two** files that matter, and \`src/a.ts\` is the one to change:

- \`src/a.ts\` holds the *loop*, which is long enough that this item has to be wrapped at the end of the row
- \`src/b.ts\` holds the rest
  1. nested
  2. twice

\`\`\`ts
export function loop(): number {
  return 1;
}
\`\`\`

| name | lines |
| --- | --- |
| a.ts | 12 |

> A quote, see [the page](https://example.com/page).

Done.`;

const edit = JSON.stringify({ path: "a.ts", edits: [{ old_text: "two", new_text: "2" }] });

describe("a conversation on a terminal", () => {
  test.each<[string, Record<string, string>, Size]>([
    ["wide", {}, { columns: 80, rows: 30 }],
    ["without-colors", { NO_COLOR: "1" }, { columns: 80, rows: 30 }],
    ["narrow", {}, { columns: 20, rows: 12 }],
  ])("looks as it should: %s", async (name, env, size) => {
    writeFileSync(work.at("a.ts"), "one\ntwo\nthree\n");
    wire.script(
      call("read_file", { path: "a.ts" }),
      answerWith({ text: "I change it.", calls: [{ name: "edit_file", args: edit }] }),
      answerWith({ text: answer }),
    );
    const program = await chatting(env, size);
    await program.enter("change a.ts, please\r", /then\sEnter:$/);
    await expect(steady(program.screen.text)).toMatchFileSnapshot(`golden/${name}-question.txt`);
    await program.enter("y\r", /Done\.\n\nopenai-compatible\/m.*\n>$/);
    await program.enter("\u000f", /\(\d+ to \d+ of \d+\)$/);
    await expect(steady(program.screen.text)).toMatchFileSnapshot(`golden/${name}-opened.txt`);
    await program.enter("\u000f", /Done\.\n\nopenai-compatible\/m.*\n>$/);
    await expect(steady(program.screen.text)).toMatchFileSnapshot(`golden/${name}.txt`);
    await program.enter("/", "→ /answer");
    program.type("\u007f");
    expect(await leave(program)).toBe(0);
    // Colours and weights only where they are wanted.
    expect(/\u001b\[[0-9;]*m/.test(program.screen.raw)).toBe(env.NO_COLOR === undefined);
  });

  test("takes a paste of 30 lines as one message", async () => {
    wire.script(answerWith({ text: "Read." }));
    const program = await chatting();
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    await program.enter(`See: \u001b[200~${lines.join("\r")}\u001b[201~`, /> See: \[paste #1 \+30 lines\]$/);
    await program.enter("\r", /\n {2}line 10\n {2}… 20 more lines\n\nRead\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
    expect(messages()).toEqual([`See: ${lines.join("\n")}`]);
  });

  test.each([
    ["Alt-Enter", "\u001b\r"],
    ["Shift-Enter", "\u001b[13;2u"],
    ["Ctrl-J", "\n"],
    ["a backslash before Enter", "\\\r"],
  ])("begins another line of a message at %s", async (_key, keys) => {
    wire.script(answerWith({ text: "Read." }));
    const program = await chatting();
    await program.enter("one", /> one$/);
    await program.enter(keys, (text) => program.screen.cursor.row === text.split("\n").length);
    await program.enter("two\r", /> one\n {2}two\n\nRead\./);
    expect(await leave(program)).toBe(0);
    expect(messages()).toEqual(["one\ntwo"]);
  });

  test("completes commands, what they take, and files after @ that the project does not ignore", async () => {
    wire.script(answerWith({ text: "Read." }));
    writeFileSync(work.at(".gitignore"), "noted.log\n");
    for (const name of ["notes.md", "noted.log"]) writeFileSync(work.at(name), "x");
    const program = await chatting();
    await program.enter("/to", /→ \/tools/);
    await program.enter("\t", /> \/tools$/);
    await program.enter("d", /> \/tools d\n\s*→ disable$/);
    await program.enter("\t", /> \/tools disable$/);
    await program.enter("\u0015see @not", /> see @not\n\s*→ notes\.md$/);
    await program.enter("\t", /> see @notes\.md$/);
    await program.enter("\r", /Read\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
    expect(messages()).toEqual(['see @notes.md\n\n<file path="notes.md">\nx\n</file>']);
  });

  test("remembers what was typed for later sessions, for the user alone", async () => {
    wire.script(answerWith({ text: "Read." }), answerWith({ text: "Again." }));
    const first = await chatting();
    await first.enter("the first\r", /Read\.\n\n.*\n>$/);
    first.type("\u0004");
    expect(await first.ended).toBe(0);
    const file = join(work.state, "toolcrib", "input.jsonl");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe('"the first"\n');
    const second = await chatting();
    await second.enter("\u001b[A", /> the first$/);
    await second.enter("\r", /Again\.\n\n.*\n>$/);
    expect(await leave(second)).toBe(0);
    expect(messages()).toEqual(["the first", "the first"]);
  });

  test("lets the user pick an earlier conversation", async () => {
    wire.script(answerWith({ text: "Wren." }), answerWith({ text: "Heron." }), answerWith({ text: "Wren again." }));
    const program = await chatting();
    await program.enter("about birds\r", /Wren\.\n\n.*\n>$/);
    await program.enter("/clear\r", /A new conversation begins[\s\S]*\n>$/);
    await program.enter("about fish\r", /Heron\.\n\n.*\n>$/);
    program.type("/resume\r");
    await program.shows(/Enter picks · Esc leaves · type to filter\n→ .* about fish {2}\(this one\)\n.* about birds$/);
    await program.enter("\u001b[B\r", /Continuing .*about birds: 2 messages\.\n\n> about birds\n\nWren\.\n\n.*\n>$/);
    await program.enter("which\r", /Wren again\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
    expect(wire.requests.at(-1)?.text).toContain("about birds");
  });

  test("shows a running command with its last line, and ends it at Ctrl-C", async () => {
    const command = "echo first; echo second; while ! test -e go; do sleep 0.1; done";
    wire.script(call("run_bash", { command }));
    const program = await chatting({}, {}, "--enable", "run_bash", "--no-sandbox", "--mode", "full");
    await program.enter("run it\r", /\n→ run_bash .* · \d+ s\n {2}second\n\n.*Esc stops.*\n>$/);
    await program.enter("typed meanwhile", /\n {2}second\n\n.*\n> typed meanwhile$/);
    await program.enter("\u0003", /Ending the request[\s\S]*Interrupted\.[\s\S]*\n> typed meanwhile$/);
    await program.enter("\u0003", /\nCtrl-C again, or \/quit, leaves\. .*\n>$/);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
  });

  test("prints each line of a long answer once and in order, however it comes and the window changes", async () => {
    const lines = Array.from({ length: 150 }, (_, index) => `const line${index} = ${index};`);
    const text = `Here:\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\nThe end.`;
    const pieces = text.match(/[\s\S]{1,7}/g) ?? [];
    wire.script(streamOf(inPieces(pieces), { gapMs: 1 }));
    const program = await chatting({}, { columns: 60, rows: 12 });
    program.type("code\r");
    for (const [mark, columns] of [
      [20, 50],
      [60, 44],
      [100, 70],
    ] as const) {
      await program.shows(`const line${mark} =`);
      program.resize(columns, 12);
    }
    await program.shows(/The end\.\n\nopenai-compatible\/m.*\n>$/);
    expect(program.screen.text.match(/const line\d+ = \d+;/g)).toEqual(lines);
    expect(await leave(program)).toBe(0);
  });

  test("writes little more than the answer: nothing that has not changed is drawn again", async () => {
    const words = Array.from({ length: 1000 }, (_, index) => (index % 60 === 59 ? "end.\n\n" : `word${index % 10} `));
    wire.script(streamOf(inPieces(words), { gapMs: 1 }));
    const program = await chatting();
    const before = program.screen.raw.length;
    await program.enter("talk\r", /word9\n\nopenai-compatible\/m.*\n>$/);
    const written = program.screen.raw.length - before;
    const ratio = written / words.join("").length;
    console.log(`1,000 tokens: ${words.join("").length} characters, ${written} written, ratio ${ratio.toFixed(2)}`);
    // Where each token is drawn by itself, about 45 characters of control codes come with it.
    expect(ratio).toBeLessThan(12);
    expect(await leave(program)).toBe(0);
  });

  test("nothing that a model or a tool says steers the terminal", async () => {
    const hostile = "a\u001b]0;owned\u0007\u001b[2J\u009b3J\u001b[31mb\u202e &#27;[2J [x](\u001b]8;;http://evil\u0007)";
    writeFileSync(work.at("a.ts"), hostile);
    wire.script(
      answerWith({ text: hostile, calls: [{ name: "read_file", args: JSON.stringify({ path: "a.ts", limit: 3 }) }] }),
      answerWith({ text: `\`\`\`\n${hostile}\n\`\`\`\n\n${hostile}` }),
    );
    const program = await chatting();
    await program.enter("read\r", /✓ read_file[\s\S]*owned[\s\S]*owned[\s\S]*\n\nopenai-compatible\/m.*\n>$/);
    await program.enter("\u000f", /→ read_file[\s\S]*\(\d+ to \d+ of \d+\)$/);
    await program.enter("q", /\n>$/);
    expect(await leave(program)).toBe(0);
    expect(program.screen.raw).not.toMatch(/\u001b[^[]|\u001b\[[23]J|\u009b|\u202e|\u0007/);
  });
});

describe.each<[string, Record<string, string>, string[]]>([
  ["a dumb terminal", { TERM: "dumb" }, []],
  ["TOOLCRIB_PLAIN=1", { TOOLCRIB_PLAIN: "1", NO_COLOR: "1" }, []],
  ["--plain", { NO_COLOR: "1" }, ["--plain"]],
])("with %s", (_how, env, flags) => {
  test("lines are printed one after the other, without a control code, and questions are answered", async () => {
    writeFileSync(work.at("a.ts"), "one\ntwo\n");
    wire.script(
      answerWith({ text: "I **change** it.", calls: [{ name: "edit_file", args: edit }] }),
      answerWith({ text: "Done." }),
    );
    const args = ["chat", ...modelAt(wire), ...flags];
    const program = work.onTerminal(args, { env });
    await program.shows(/\n>$/);
    program.type("change it\r");
    await program.shows(/I \*\*change\*\* it\.\n→ edit_file [\s\S]*\n {2}-two\n {2}\+2\n[\s\S]*then Enter:$/);
    await program.enter("y\r", /\n✓ edit_file[^\n]*\nDone\.\n>$/);
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(program.screen.raw).not.toContain("\u001b");
    expect(readFileSync(work.at("a.ts"), "utf8")).toBe("one\n2\n");
  });
});

/** A reply whose text comes in these pieces. */
function inPieces(pieces: readonly string[]): string[] {
  const chunks = sse(replyEvents("chat", { text: "#" }));
  const isPiece = (chunk: string): boolean => chunk.includes('"content":"#"');
  const at = chunks.findIndex(isPiece);
  const same = pieces.map((piece) => (chunks[at] ?? "").replace('"#"', () => JSON.stringify(piece)));
  return [...chunks.slice(0, at), ...same, ...chunks.slice(at + 1).filter((chunk) => !isPiece(chunk))];
}
