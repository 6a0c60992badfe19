import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor, modelAt } from "../../fixtures/command.ts";

const work = homeFor("sessions");
const wire = await sharedWireServer();
const secret = "s3cret-0123456789";

const env = { MY_API_KEY: secret };
const model = (): string[] => modelAt(wire);
const toolcrib = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  work.toolcrib(args, { env, ...(input !== undefined && { input }) });
const run = (prompt: string, ...args: string[]): Promise<ProgramEnd> =>
  toolcrib(["run", prompt, ...args, "--mode", "full", ...model()]);
const lastRequest = (): string => wire.requests.at(-1)?.text ?? "";

/** The model writes a file, then answers. */
function writes(path: string, content: string, answer: string): void {
  const call = { name: "write_file", args: JSON.stringify({ path, content }) };
  wire.script(answerWith({ calls: [call] }), answerWith({ text: answer }));
}

function sessionsFolder(): string {
  const folder = join(work.state, "toolcrib", "sessions");
  return join(folder, readdirSync(folder)[0] ?? "");
}

describe("toolcrib sessions", () => {
  test("call a run by the words of its prompt, not by what was piped in before them", async () => {
    wire.script(answerWith({ text: "Fine." }), answerWith({ text: "Same." }));
    await toolcrib(["run", "review", "this", ...model()], "diff --git a/a.txt b/a.txt\n+one\n");
    await toolcrib(["run", ...model()], "only piped\n");
    const { stdout } = await toolcrib(["sessions", "list"]);
    expect(stdout).toMatch(/^Begun by toolcrib run:\n {2}1 {2}.* {2}only piped\n {2}2 {2}.* {2}review this\n$/);
    expect((await toolcrib(["sessions", "show", "2"])).stdout).toMatch(/^# review this\n/);
  });

  test("lists, shows, exports and deletes conversations, by number and by id", async () => {
    expect((await toolcrib(["sessions", "list"])).stderr).toContain("There is no conversation in this directory");
    wire.script(answerWith({ text: "Wren." }));
    await run("about birds");
    writes("pike.txt", `</script><b>${secret}`, "Pike.");
    await run("about fish");
    const { stdout } = await toolcrib(["sessions", "list"]);
    const [, id = ""] = / {2}1 {2}([0-9a-f]{6}) {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}about fish\n/.exec(stdout) ?? [];
    expect(stdout).toMatch(/ {2}2 {2}[0-9a-f]{6} {2}.*about birds\n$/);
    expect(JSON.parse((await toolcrib(["sessions", "list", "--json"])).stdout)).toMatchObject([
      { id },
      { topic: "about birds" },
    ]);

    expect((await toolcrib(["sessions", "show", "2"])).stdout).toMatch(/^# about birds\n[\s\S]*\nWren\.\n$/);
    const page = (await toolcrib(["sessions", "export", id])).stdout;
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain("&lt;/script&gt;&lt;b&gt;[redacted]");
    expect(page).not.toContain(secret);
    expect((await toolcrib(["sessions", "export", id, "-o", "-"])).stdout).toBe(page);
    const written = await toolcrib(["sessions", "export", "1", "--md", "-o", "fish.md"]);
    expect(written).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("Written to fish.md") });
    expect(readFileSync(work.at("fish.md"), "utf8")).toContain("### write_file");
    expect(statSync(work.at("fish.md")).mode & 0o777).toBe(0o600);
    expect(await toolcrib(["sessions", "export", "-o", "fish.md"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("fish.md: it exists; choose another name"),
    });

    const undo = join(sessionsFolder(), "undo");
    expect(readdirSync(undo)).toHaveLength(1);
    expect((await toolcrib(["sessions", "delete", "1", "2"])).stdout).toMatch(
      /^Deleted: .*about fish\nDeleted: .*about birds\n$/,
    );
    expect(readdirSync(undo)).toEqual([]);
    expect((await toolcrib(["sessions", "list"])).stdout).toBe("");
    expect(await toolcrib(["sessions", "show", "1"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no such conversation"),
    });
  });

  test("-r goes on with a number or an id; without a terminal it does not ask which", async () => {
    for (const topic of ["birds", "fish"]) {
      wire.script(answerWith({ text: "Yes." }));
      await run(`about ${topic}`);
    }
    const [, { id = "" } = {}] = JSON.parse((await toolcrib(["sessions", "list", "--json"])).stdout);
    for (const name of ["2", id]) {
      wire.script(answerWith({ text: "Still birds." }));
      expect((await run("go on", "-r", name)).stdout).toBe("Still birds.\n");
      expect(lastRequest()).toContain("about birds");
      const [first] = readdirSync(sessionsFolder())
        .filter((file) => file.endsWith(".jsonl"))
        .sort();
      utimesSync(join(sessionsFolder(), first ?? ""), 0, Date.now() / 1000 - 60);
    }
    expect(await run("go on", "-r", "none")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no such file or conversation"),
    });
    expect(await toolcrib(["chat", "-r", ...model()], "")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("asks which one"),
    });
  });

  test("-r asks on a terminal which one", async () => {
    wire.script(answerWith({ text: "Yes." }));
    await run("about birds");
    wire.script(answerWith({ text: "Still birds." }));
    const terminal = work.onTerminal(["run", "go on", ...model(), "-r"], { env });
    await terminal.shows(/Number:$/);
    terminal.type("1\r");
    await terminal.ended;
    expect(lastRequest()).toContain("about birds");
  });

  test("of many conversations the first are shown, with how many more there are, and a later number counts", async () => {
    wire.script(answerWith({ text: "Yes." }));
    await run("about birds");
    const [journal = ""] = readdirSync(sessionsFolder()).filter((file) => file.endsWith(".jsonl"));
    for (let copy = 1; copy <= 22; copy += 1) {
      const path = join(sessionsFolder(), `copy${copy}.jsonl`);
      copyFileSync(join(sessionsFolder(), journal), path);
      utimesSync(path, 0, Date.now() / 1000 - 60 * copy);
    }
    expect((await toolcrib(["sessions", "list"])).stdout.match(/about birds/g)).toHaveLength(23);
    wire.script(answerWith({ text: "Still birds." }));
    const chat = await toolcrib(["chat", ...model()], "/resume\n/resume 24\n/resume 23\ngo on\n");
    expect(chat.stderr).toMatch(/ 20 {2}.*about birds\n.*… and 3 more: toolcrib sessions list shows their numbers/);
    expect(chat.stderr).toContain("There is no conversation 24: write /resume and an id, or a number from 1 to 23.");
    expect(chat.stderr).toMatch(/Continuing .*about birds: 2 messages/);
    expect(chat.stdout).toContain("Still birds.");
    wire.script(answerWith({ text: "Birds again." }));
    const terminal = work.onTerminal(["run", "go on", ...model(), "-r"], { env });
    await terminal.shows(/Number:$/);
    expect(terminal.screen.text).toContain("… and 3 more");
    terminal.type("23\r");
    expect(await terminal.ended).toBe(0);
  });

  test("old conversations are removed with a word, never the one in use", async () => {
    wire.script(answerWith({ text: "Yes." }));
    await run("about birds");
    const [journal = ""] = readdirSync(sessionsFolder()).filter((file) => file.endsWith(".jsonl"));
    utimesSync(join(sessionsFolder(), journal), 0, 0);
    wire.script(answerWith({ text: "Yes." }), answerWith({ text: "Yes." }));
    expect((await run("go on", "-c")).stderr).not.toContain("Removed");
    utimesSync(join(sessionsFolder(), journal), 0, 0);
    expect((await run("about fish")).stderr).toContain("Removed 1 old conversation");
    expect(existsSync(join(sessionsFolder(), journal))).toBe(false);
  });
});

describe("/undo", () => {
  test("puts the files back turn by turn, also those of an earlier command, and tells the model", async () => {
    writeFileSync(work.at("a.txt"), "mine\n");
    writes("a.txt", "run\n", "Written.");
    await run("write a file");
    writes("a.txt", "chat\n", "Written again.");
    wire.script(answerWith({ text: "I see." }));
    const chat = await toolcrib(
      ["chat", "-c", "--mode", "full", ...model()],
      "and again\n/undo\n/undo\n/undo\nwhat now\n",
    );
    expect(chat.stderr).toContain("Taken back: and again\n  restored    a.txt");
    expect(chat.stderr).toContain("Taken back: write a file\n  restored    a.txt");
    expect(chat.stderr).toContain("There is no turn left that changed anything.");
    expect(readFileSync(work.at("a.txt"), "utf8")).toBe("mine\n");
    expect(lastRequest()).toContain("The user has taken back what you changed");
    expect(lastRequest()).toContain("what now");
  });

  test("keeps what the user has changed since, and names commands that may have changed something", async () => {
    const calls = [
      { name: "write_file", args: JSON.stringify({ path: "a.txt", content: "tool\n" }) },
      { name: "run_bash", args: JSON.stringify({ command: "echo made > made.txt" }) },
      { name: "run_bash", args: JSON.stringify({ command: "ls" }) },
    ];
    wire.script(answerWith({ calls }), answerWith({ text: "Done." }));
    await run("do both", "--enable", "run_bash", "--no-sandbox");
    writeFileSync(work.at("a.txt"), "mine\n");
    const { stderr } = await toolcrib(["chat", "-c", ...model()], "/undo\n");
    expect(stderr).toContain("left alone  a.txt: it was changed since by you or another program");
    expect(stderr).toContain("not undone  run_bash: the effects of this command: echo made > made.txt");
    expect(stderr).not.toContain("the effects of this command: ls");
    expect(readFileSync(work.at("a.txt"), "utf8")).toBe("mine\n");
    expect(existsSync(work.at("made.txt"))).toBe(true);
  });
});

test("/export writes the conversation to a new file", async () => {
  wire.script(answerWith({ text: "Wren." }));
  const { stderr } = await toolcrib(
    ["chat", ...model()],
    "/export\nabout birds\n/export birds.html\n/export birds.md\n/export birds.md\n",
  );
  expect(stderr).toContain("There is nothing to export yet.");
  expect(stderr).toContain("birds.md: it exists");
  expect(readFileSync(work.at("birds.html"), "utf8")).toContain("about birds");
  expect(readFileSync(work.at("birds.md"), "utf8")).toContain("# about birds");
});
