import { existsSync, readFileSync } from "node:fs";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { startAcp } from "../../fixtures/acp.ts";
import { call, homeFor, modelAt } from "../../fixtures/command.ts";

const work = homeFor("programs");
const wire = await sharedWireServer();

/** A model that sends a program, then says so. */
function sends(code: string): void {
  wire.script(call("run_program", { code }), answerWith({ text: "Done." }));
}

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return work.toolcrib([...args, ...modelAt(wire)]);
}

const run = (...flags: string[]): Promise<ProgramEnd> => toolcrib("run", "hi", "--programs", ...flags);
const started = (...args: string[]) => work.onTerminal([...args, ...modelAt(wire)]);
const isWritten = (name: string): boolean => existsSync(work.at(name));
const asks = /then\sEnter:$/;

const counting = `const all = await Promise.all(["a.txt", "b.txt", "lost.txt"].map((path) =>
    tools.read_file({ path }).then(({ text }) => text.length, ({ code }) => code)));
  return all.join()`;

describe("--programs", () => {
  test("gives the model run_program; without it there is none", async () => {
    const names = async (...flags: string[]) => {
      wire.reset();
      wire.script(answerWith({ text: "Hm." }));
      await toolcrib("run", "hi", ...flags);
      return wire.requests[0]?.text.includes('"run_program"');
    };
    expect([await names(), await names("--programs")]).toEqual([false, true]);
    expect(await names("--programs", "--disable", "run_program")).toBe(false);
    expect(await names("--programs", "--tools", "read_file")).toBe(true);
    expect(await run("--disable", "run_progran")).toMatchObject({ code: 2 });
    const none = await toolcrib("run", "hi", "--enable", "run_program");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("no such tool without --programs") });
  });

  test("declares in run_program only the tools that are on", async () => {
    const { stdout } = await work.toolcrib(["tools", "list", "--programs", "--tools", "list_dir", "--json"]);
    const listing = JSON.parse(stdout) as { name: string; description: string; enabled: boolean }[];
    const { description = "", enabled } = listing.find(({ name }) => name === "run_program") ?? {};
    expect(enabled).toBe(true);
    expect(description).toContain("list_dir(args");
    expect(description).not.toContain("read_file");
  });

  test("prints the calls of a program below it, and which of them failed", async () => {
    work.write("work/a.txt", "one");
    work.write("work/b.txt", "three");
    sends(counting);
    const { stderr, stdout } = await run();
    const rows = stderr.split("\n").filter((row) => /^ *[→✓✗]/.test(row));
    expect([rows[0], ...rows.slice(1, -1).sort(), rows.at(-1)]).toEqual([
      expect.stringMatching(/^→ run_program code=/),
      ...["  ✓ read_file a.txt", "  ✓ read_file b.txt"],
      expect.stringMatching(/^ {2}✗ read_file lost.txt: No such file/),
      "✓ run_program: 3,5,execution_failed",
    ]);
    expect(stdout).toBe("Done.\n");
  });

  test("prints the first ten calls, and counts the others", async () => {
    sends(`for (let n = 0; n < 13; n += 1) await tools.read_file({ path: "lost" }).catch(() => 1); return "end"`);
    const { stderr } = await run();
    expect(stderr.match(/^ {2}✗ read_file lost:/gm)).toHaveLength(10);
    expect(stderr).toContain("\n  … and 3 calls, 3 failed\n✓ run_program: end\n");
  });

  test("as JSON names the program around each call", async () => {
    work.write("work/a.txt", "one");
    sends(`return (await tools.read_file({ path: "a.txt" })).text`);
    const { stdout } = await run("--output-format", "json");
    const { toolCalls } = JSON.parse(stdout) as { toolCalls: { id?: string }[] };
    const id = toolCalls[0]?.id;
    expect(toolCalls).toEqual([
      { id: expect.any(String), name: "run_program", args: expect.anything(), isError: false },
      { name: "read_file", args: { path: "a.txt" }, isError: false, within: id },
    ]);
    wire.reset();
    sends(`return (await tools.read_file({ path: "a.txt" })).text`);
    const lines = (await run("--output-format", "stream-json")).stdout.trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as { type: string; id?: string; within?: string });
    const [outer, inner, result] = events.filter(({ type }) => type === "tool-call" || type === "tool-result");
    expect([inner?.within, result?.within, inner?.id]).toEqual([outer?.id, outer?.id, `${outer?.id}:1`]);
  });

  test("runs no call that a rule denies; the program can catch it", async () => {
    sends(`return tools.write_file({ path: "a.txt", content: "" }).catch(({ code }) => code)`);
    const { stderr, code } = await run("--deny", "write_file", "--mode", "full");
    expect(stderr).toContain("✓ run_program: permission_denied\n");
    expect([code, isWritten("a.txt")]).toEqual([4, false]);
  });

  test("is called by hand like any tool", async () => {
    work.write("work/a.txt", "one");
    const code = `return (await tools.read_file({ path: "a.txt" })).text`;
    const end = await work.toolcrib(["tools", "call", "run_program", "--programs", "--code", code]);
    expect(end).toMatchObject({ code: 0, stdout: "one" });
  });
});

const writes = `for (const name of ["a", "b"]) await tools.write_file({ path: name + ".txt", content: name });
  return "written"`;

describe("a question about a call of a program", () => {
  test("shows the call and what it would change; a yes lets the program go on", async () => {
    sends(writes);
    const program = started("run", "hi", "--programs");
    await program.shows(asks);
    expect(program.screen.text).toMatch(/In the program:\nwrite_file would write a\.txt\n[\s\S]*\+a\n/);
    await program.enter("y\r", /In the program:\nwrite_file would write b\.txt[\s\S]*then\sEnter:$/);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(readFileSync(work.at("b.txt"), "utf8")).toBe("b");
  });

  test("waits in the saved conversation, and goes on there in another process", async () => {
    sends(writes);
    const end = await run();
    expect([end.code, isWritten("a.txt")]).toEqual([4, false]);
    expect(end.stderr).toContain("write_file would write a.txt");
    expect(end.stderr).toContain("toolcrib chat -c --programs asks for it.");
    const program = started("chat", "-c", "--programs");
    await program.shows(asks);
    await program.enter("y\r", /In the program:\nwrite_file would write b\.txt[\s\S]*then\sEnter:$/);
    await program.enter("y\r", /✓ run_program .* · 2 calls, [\s\S]*Done\./);
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect([isWritten("a.txt"), isWritten("b.txt")]).toEqual([true, true]);
    expect(wire.requests[1]?.text).toContain("written");
  });

  test("is not asked where its program could not go on", async () => {
    sends(writes);
    await run();
    const program = started("chat", "-c");
    await program.shows(/A program waits for your answer/);
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    const again = started("chat", "-c", "--programs");
    await again.shows(asks);
    await again.enter("n\r", /Done\./);
    again.type("/quit\r");
    expect(await again.ended).toBe(0);
  });

  const together = (paths: string): string =>
    `const all = await Promise.allSettled(${paths}.map((path) => tools.write_file({ path, content: "x" })));
     return all.map(({ status, reason }) => reason ? reason.message : status).join()`;

  test("of several at once is one question; a yes is one for exactly these", async () => {
    sends(together(`["a.txt", "b.txt", "c.txt"]`));
    const program = started("run", "hi", "--programs");
    await program.shows(/make 3 calls:\n.*would write a\.txt\n.*b\.txt\n.*c\.txt\nu 50: .*\n\[y\]es to all 3,/);
    await program.shows(asks);
    await program.enter(
      "v\r",
      /1\. write_file would write a\.txt; asked because[\s\S]*path: a\.txt[\s\S]*then\sEnter:$/,
    );
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(["a.txt", "b.txt", "c.txt"].map(isWritten)).toEqual([true, true, true]);
  });

  test("takes a yes for up to n such calls below a folder; one elsewhere is asked about", async () => {
    sends(`for (let n = 1; n <= 4; n += 1) await tools.write_file({ path: "notes/" + n + ".md", content: "x" });
      await tools.write_file({ path: "other.md", content: "x" });
      return "written"`);
    const program = started("run", "hi", "--programs");
    await program.shows(
      /\nu 50: up to 50 such calls of write_file in this program, below notes\n\[y\]es, \[a\]lways, \[u\]p to, [\s\S]*then\sEnter:$/,
    );
    await program.enter("u\r", /u is none of \[y\]es/);
    await program.enter("u 10\r", /would write other\.md[\s\S]*then\sEnter:$/);
    expect([1, 2, 3, 4].map((n) => isWritten(`notes/${n}.md`))).toEqual([true, true, true, true]);
    program.type("n\r");
    expect(await program.ended).toBe(4);
    expect(isWritten("other.md")).toBe(false);
  });

  test("of a round takes it too, for the calls of the round and those after", async () => {
    sends(`const write = (n) => tools.write_file({ path: "notes/" + n + ".md", content: "x" });
      await Promise.all([1, 2, 3].map(write));
      for (const n of [4, 5]) await write(n);
      return "written"`);
    const program = started("run", "hi", "--programs");
    await program.shows(/\[y\]es to all 3, \[u\]p to, \[o\]ne by one[\s\S]*then\sEnter:$/);
    await program.enter("u 4\r", /write_file would write notes\/5\.md[\s\S]*then\sEnter:$/);
    expect([isWritten("notes/4.md"), isWritten("notes/5.md")]).toEqual([true, false]);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(isWritten("notes/5.md")).toBe(true);
  });

  test("of several at once is answered one by one on request, or by a no that holds for all", async () => {
    sends(together(`["a.txt", "b.txt"]`));
    const program = started("run", "hi", "--programs");
    await program.shows(asks);
    await program.enter("o\r", /In the program:\nwrite_file would write a\.txt[\s\S]*then\sEnter:$/);
    await program.enter("n\r", /In the program:\nwrite_file would write b\.txt[\s\S]*then\sEnter:$/);
    program.type("y\r");
    expect(await program.ended).toBe(4);
    expect([isWritten("a.txt"), isWritten("b.txt")]).toEqual([false, true]);
    wire.reset();
    sends(together(`["c.txt", "d.txt"]`));
    const other = started("run", "hi", "--programs");
    await other.shows(/make 2 calls:[\s\S]*then\sEnter:$/);
    other.type("not here\r");
    expect(await other.ended).toBe(4);
    expect(wire.requests[1]?.text.match(/the user said no to this call: not here/g)).toHaveLength(2);
    expect([isWritten("c.txt"), isWritten("d.txt")]).toEqual([false, false]);
  });

  test("of many at once names their folder; what a rule asks about stands by itself", async () => {
    sends(together(`Array.from({ length: 30 }, (_, n) => "notes/" + n + ".md").concat("keep.md")`));
    const program = started("run", "hi", "--programs", "--ask", "effect:write(keep.md)");
    await program.shows(asks);
    expect(program.screen.text).toMatch(
      /make 31 calls:\n {2}30 calls of write_file would write below notes\n {2}write_file would write keep\.md\n/,
    );
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(isWritten("notes/29.md")).toBe(true);
  });

  test("of more than a screen shows takes no yes to all", async () => {
    sends(`const all = await Promise.allSettled(Array.from({ length: 30 }, (_, n) =>
      tools.write_file({ path: "keep" + n + ".md", content: "x" })));
      return all.length`);
    const program = started("run", "hi", "--programs", "--ask", "effect:write(keep*)");
    await program.shows(/\n {2}… \d+ more rows\n\[o\]ne by one, \[v\]iew, [\s\S]*then\sEnter:$/);
    await program.enter("y\r", /y is none of \[o\]ne by one/);
    await program.enter("n\r", /Done/);
    expect(await program.ended).toBe(4);
    expect(isWritten("keep0.md")).toBe(false);
  });
});

test("in an editor its calls are calls of their own, and its questions permission requests", async () => {
  sends(writes);
  const editor = startAcp([...modelAt(wire), "--programs"], { cwd: work.base, env: work.env }, async () => "several");
  await editor.agent.request("initialize", { protocolVersion: 1 });
  const { sessionId } = await editor.agent.request("session/new", { cwd: work.folder, mcpServers: [] });
  const prompt = [{ type: "text" as const, text: "go" }];
  expect(await editor.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
  const [outer, ...inner] = editor.of("tool_call");
  expect(inner.map(({ title, _meta }) => [title, _meta])).toEqual(
    ["a", "b"].map((name) => [`write_file ${name}.txt`, { toolcrib: { parentToolCallId: outer?.toolCallId } }]),
  );
  expect([editor.questions.length, isWritten("b.txt")]).toEqual([1, true]);
  editor.stdin.end();
  await editor.ended;
});
