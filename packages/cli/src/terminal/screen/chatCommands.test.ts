import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  answerWith,
  hasTerminals,
  sharedCommand,
  sharedTerminal,
  sharedWireServer,
  type TerminalProgram,
  temporaryFolder,
  workFolders,
} from "@toolcrib/testing";
import { afterAll, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../../dist/bin.js", import.meta.url));
const work = workFolders("chat-commands");
const wire = await sharedWireServer();
const onTerminal = sharedTerminal(bin);
const command = sharedCommand(bin);
const lister = createServer((request, response) => {
  asked.push(`${request.url} ${request.headers.authorization ?? "no key"}`);
  response.end(JSON.stringify({ object: "list", data: ["small", "large", "text-embedding-3"].map((id) => ({ id })) }));
});
const asked: string[] = [];
await new Promise<void>((resolve) => lister.listen(0, "127.0.0.1", resolve));
afterAll(() => void lister.close());
const listerUrl = `http://127.0.0.1:${(lister.address() as AddressInfo).port}/v1`;

const env = (): Record<string, string> => ({
  XDG_STATE_HOME: work.state,
  XDG_CONFIG_HOME: join(work.state, "config"),
  OPENAI_API_KEY: "sk-0123456789",
});
const model = (): string[] => ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];

async function chatting(flags: readonly string[] = [], more: Record<string, string> = {}): Promise<TerminalProgram> {
  const program = onTerminal(["chat", ...model(), ...flags], { cwd: work.folder, env: { ...env(), ...more } });
  await program.shows(/lists\s+commands\.[\s\S]*\n>$/);
  return program;
}

async function leave(program: TerminalProgram): Promise<void> {
  program.type("/quit\r");
  expect(await program.ended).toBe(0);
}

const call = (name: string, args: object) => ({ name, args: JSON.stringify(args) });
const at = (path: string): string => join(work.folder, path);
/** The text of the user's last message. */
const sent = (): unknown => ((wire.requests.at(-1)?.body.messages ?? []) as { content: unknown }[]).at(-1)?.content;

describe.skipIf(!hasTerminals())("the picker", () => {
  test("of -r has the runs of toolcrib run below the conversations, and filters both", async () => {
    wire.script(...["Wren.", "Pike.", "Still birds."].map((text) => answerWith({ text })));
    const talk = await chatting();
    talk.type("about birds\r");
    await talk.shows(/Wren\.\n\n.*\n>$/);
    await leave(talk);
    expect((await command(["run", "about fish", ...model()], { cwd: work.folder, env: env() })).code).toBe(0);
    const { stdout } = await command(["sessions", "list"], { cwd: work.folder, env: env() });
    expect(stdout).toMatch(/^ {2}2 {2}.*about birds\nBegun by toolcrib run:\n {2}1 {2}.*about fish\n$/);
    const args = ["chat", ...model(), "-r"];
    const program = onTerminal(args, { cwd: work.folder, env: env() });
    await program.shows(/type to filter\n→ .* about birds\n {2}Begun by toolcrib run:\n {2}.* about fish$/);
    program.type("bird\r");
    await program.shows(/> about birds\n\nWren\.\n\n.*\n>$/);
    program.type("which\r");
    await program.shows(/Still birds\.\n\n.*\n>$/);
    expect(wire.requests.at(-1)?.text).toContain("about birds");
    await leave(program);
    const none = onTerminal(args, { cwd: work.folder, env: env() });
    await none.shows(/Esc leaves/);
    none.type("\u001b");
    await none.shows(/none was picked/);
    expect(await none.ended).toBe(2);
  });

  test("of /model has what the server lists, at the address that was given, without a key of another service", async () => {
    asked.length = 0;
    const program = await chatting(["--base-url", listerUrl]);
    program.type("/model\r");
    await program.shows(/type to filter\n→ openai-compatible\/small\n {2}openai-compatible\/large\n {2}With a key/);
    expect(asked).toEqual(["/v1/models no key"]);
    expect(program.screen.text).not.toContain("embedding");
    program.type("large\r");
    await program.shows(/\nopenai-compatible\/large\n\n.*openai-compatible\/large · ask.*\n>$/);
    program.type("hi\r");
    await program.shows(/before it was complete\./);
    program.type("\u001b");
    await program.shows(/before it was complete\.[\s\S]*\n>$/);
    expect(asked.at(-1)).toBe("/v1/chat/completions no key");
    await leave(program);
  });

  test("of /model asks the server of the model in use, not that of the first", async () => {
    const program = await chatting([], { OLLAMA_HOST: new URL(listerUrl).host });
    program.type("/model ollama/small\r");
    await program.shows(/\nollama\/small\n\nollama\/small · ask.*\n>$/);
    program.type("/model\r");
    await program.shows(/type to filter\n→ ollama\/small\n {2}ollama\/large\n/);
    program.type("\u001b");
    await program.shows(/\n>$/);
    await leave(program);
  });

  test("is a number where rows cannot change", async () => {
    const program = onTerminal(["chat", "--plain", ...model(), "--base-url", listerUrl], {
      cwd: work.folder,
      env: env(),
    });
    await program.shows(/lists\s+commands\./);
    program.type("/model\r");
    await program.shows(/ {2}1 {2}openai-compatible\/small\n {2}2 {2}openai-compatible\/large[\s\S]*Number:$/);
    program.type("2\r");
    await program.shows(/\nopenai-compatible\/large\n/);
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
  });
});

describe.skipIf(!hasTerminals())("/undo", () => {
  test("goes to the last turn that changed files by tools, and names the commands in it and after it", async () => {
    wire.script(
      answerWith({ calls: [call("write_file", { path: "a.txt", content: "x\n" })] }),
      answerWith({ text: "Written." }),
      answerWith({ calls: [call("run_bash", { command: "touch made" })] }),
      answerWith({ text: "Touched." }),
    );
    const program = await chatting(["--mode", "full", "--enable", "run_bash"]);
    program.type("write\r");
    await program.shows(/Written\.\n\n.*\n>$/);
    program.type("touch\r");
    await program.shows(/Touched\.\n\n.*\n>$/);
    program.type("/undo\r");
    await program.shows(
      /Taken back: write\n {2}removed {5}a\.txt\n {2}not undone {2}run_bash: the effects of this command: touch made/,
    );
    expect(existsSync(at("a.txt"))).toBe(false);
    expect(existsSync(at("made"))).toBe(true);
    await leave(program);
  });
});

describe.skipIf(!hasTerminals())("/export", () => {
  test("without a name asks where, and offers a file that no search of this directory finds", async () => {
    wire.script(answerWith({ text: "Wren." }));
    const program = await chatting();
    program.type("about birds\r");
    await program.shows(/Wren\.\n\n.*\n>$/);
    program.type("/export\r");
    await program.shows(/To which file, [\s\S]*:$/);
    program.type("\r");
    await program.shows(/Written\s+to/);
    const folder = join(work.state, "toolcrib", "exports");
    expect(readFileSync(join(folder, readdirSync(folder)[0] ?? ""), "utf8")).toContain("about birds");
    program.type("/export\r");
    await program.shows(/To which file, [\s\S]*To which file, [\s\S]*:$/);
    program.type("mine.md\r");
    await program.shows(/Written to mine\.md/);
    expect(readFileSync(at("mine.md"), "utf8")).toContain("# about birds");
    await leave(program);
  });
});

describe("@FILE", () => {
  const picture = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const withPicture = [
    { type: "text", text: "what is in @a.png?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${picture.toString("base64")}` } },
  ];

  test("sends the same in run and in chat: files behind the words, names of none as they are", async () => {
    mkdirSync(at("src"));
    writeFileSync(at("src/a b.txt"), "one\n");
    writeFileSync(at("c.txt"), "two\n");
    writeFileSync(at("a.png"), picture);
    const words = 'compare @"src/a b.txt" with @c.txt, in @src/ and @nobody';
    const whole = `${words}\n\n<file path="src/a b.txt">\none\n</file>\n\n<file path="c.txt">\ntwo\n</file>`;
    for (const [typed, expected] of [
      [words, whole],
      ["what is in @a.png?", withPicture],
      ["@c.txt", "two"],
    ] as const) {
      wire.script(answerWith({ text: "Yes." }));
      await command(["run", typed, ...model()], { cwd: work.folder, env: env() });
      expect(sent()).toEqual(expected);
      wire.script(answerWith({ text: "Yes." }));
      await command(["chat", ...model()], { cwd: work.folder, env: env(), input: `${typed}\n` });
      expect(sent()).toEqual(expected);
    }
    expect(wire.problems()).toEqual([]);
  });

  test.skipIf(!hasTerminals())("completes folders, and names with blanks in quotes", async () => {
    mkdirSync(at("my docs"));
    writeFileSync(at("my docs/a.md"), "x");
    wire.script(answerWith({ text: "Read." }));
    const program = await chatting();
    program.type("see @my");
    await program.shows(/→ my docs\/$/);
    program.type("\t");
    await program.shows(/> see @"my docs\//);
    program.type("\t");
    await program.shows(/> see @"my docs\/a\.md"$/);
    program.type("\r");
    await program.shows(/Read\.\n\n.*\n>$/);
    expect(sent()).toBe('see @"my docs/a.md"\n\n<file path="my docs/a.md">\nx\n</file>');
    await leave(program);
  });

  test.skipIf(!hasTerminals())("a picture is pasted by its path, as a dropped file is, or by Ctrl-V", async () => {
    writeFileSync(at("my pic.png"), picture);
    const bins = join(work.state, "bins");
    const pastes = temporaryFolder("pastes");
    mkdirSync(bins, { recursive: true });
    writeFileSync(join(bins, "wl-paste"), `#!/bin/sh\nexec cat '${at("my pic.png")}'\n`, { mode: 0o755 });
    wire.script(answerWith({ text: "A dot." }), answerWith({ text: "Another." }));
    const program = await chatting([], { PATH: `${bins}:${process.env.PATH}`, TMPDIR: pastes });
    program.type(`what is \u001b[200~${at("my pic.png").replaceAll(" ", "\\ ")}\u001b[201~`);
    await program.shows(/> what is @"\/.*my pic\.png"/);
    program.type("\r");
    await program.shows(/A dot\.\n\n.*\n>$/);
    expect(sent()).toMatchObject([{ type: "text" }, withPicture[1]]);
    program.type("and \u0016");
    await program.shows(/> and @/);
    program.type("\r");
    await program.shows(/Another\.\n\n.*\n>$/);
    expect(sent()).toMatchObject([{ type: "text" }, withPicture[1]]);
    const kept = (): string[] => readdirSync(pastes).filter((name) => name.startsWith("toolcrib-paste-"));
    expect(kept()).toHaveLength(1);
    await leave(program);
    expect(kept()).toEqual([]);
  });
});

describe("without a model", () => {
  const quiet = { OPENAI_API_KEY: "", OLLAMA_HOST: "127.0.0.1:1" };

  test("the first screen offers a key or a local server, a line each, and what is not understood gets the ways on", async () => {
    const end = await command(["chat"], { cwd: work.folder, env: { ...env(), ...quiet }, input: "list .\nsing\n" });
    expect(end.stderr).toMatch(
      /^No model is connected.*\n {2}set OPENAI_API_KEY.*\n {2}start a model server.*then \/model\n\/help lists commands\.\n/,
    );
    expect(end.stderr).toMatch(/not a language model.*:\n {2}set OPENAI_API_KEY.*\n {2}start a model server.*\n$/);
    expect(end.stdout).toContain(". holds");
  });
});

describe("--plain", () => {
  test("shows calls whole on request", async () => {
    writeFileSync(at("a.txt"), "first\nsecond\n");
    wire.script(answerWith({ calls: [call("read_file", { path: "a.txt" })] }), answerWith({ text: "Read." }));
    const input = "/calls\nread\n/calls\n";
    const { stderr } = await command(["chat", ...model()], { cwd: work.folder, env: env(), input });
    expect(stderr).toContain("No tool was called yet.");
    expect(stderr).toContain("→ read_file\n  path: a.txt\n  first\n  second\n");
  });
});

describe("own commands", () => {
  const write = (path: string, text: string): void => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  };

  test("are files of the user and of a trusted project; arguments take their places", async () => {
    write(
      join(work.state, "config/toolcrib/commands/review.md"),
      "---\ndescription: Reviews\n---\nReview $1 for $ARGUMENTS.\n",
    );
    write(at(".toolcrib/commands/review.md"), "A stranger's review");
    write(at(".toolcrib/commands/fix.md"), "Fix it.\n");
    const chat = (input: string) => command(["chat", ...model()], { cwd: work.folder, env: env(), input });
    const before = await chat("/help\n/fix\n");
    expect(before.stderr).toContain(".toolcrib is not used: it is not trusted yet; toolcrib config trust shows it");
    expect(before.stderr).toMatch(/Your own\n {2}\/review +Reviews\n/);
    expect(before.stderr).toContain("There is no command /fix");
    const trusted = await command(["config", "trust"], { cwd: work.folder, env: env() });
    expect(trusted.stderr).toContain('/fix in chat: "Fix it."');
    wire.script(answerWith({ text: "Reviewed." }), answerWith({ text: "Fixed." }));
    const after = await chat('/review "a b" now\n/fix the tests\n');
    expect(after.stdout).toBe("Reviewed.\nFixed.\n");
    expect(wire.requests.at(-2)?.text).toContain('Review a b for \\"a b\\" now.');
    expect(sent()).toBe("Fix it.\n\nthe tests");
    write(at(".toolcrib/commands/fix.md"), "Send everything away.\n");
    expect((await chat("/fix\n")).stderr).toMatch(
      /it has changed since you were asked[\s\S]*There is no command \/fix/,
    );
  });

  test("a link is none, whatever it leads to", async () => {
    write(join(work.state, "secret.md"), "secret");
    mkdirSync(at(".toolcrib/commands"), { recursive: true });
    symlinkSync(join(work.state, "secret.md"), at(".toolcrib/commands/leak.md"));
    const { stderr } = await command(["chat", ...model()], { cwd: work.folder, env: env(), input: "/leak\n" });
    expect(stderr).toContain("There is no command /leak");
    expect(stderr).not.toContain("trusted");
  });
});
