import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, homeFor, modelAt, type OnTerminal } from "../../fixtures/command.ts";

const wire = await sharedWireServer();
const home = homeFor("skills");
const toolcrib = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  home.toolcrib(args, input === undefined ? {} : { input });

function skill(place: string, name: string, text = `Text of ${name} in ${place}.`): string {
  return home.write(`${place}/${name}/SKILL.md`, `---\nname: ${name}\ndescription: About ${name}.\n---\n${text}\n`);
}

/** The system prompt of the last conversation, as its journal has it. */
const systemPrompt = (): string => home.journal()[0] ?? "";

const run = (...flags: string[]): Promise<ProgramEnd> => toolcrib(["run", "list .", "-m", "offline", ...flags]);

test("skills of the user are named in the system prompt, each name once, and no question is asked", async () => {
  for (const place of [".toolcrib/skills", ".agents/skills", ".claude/skills", "config/toolcrib/skills"])
    skill(place, place.replace(/\W+/g, "-").replace(/^-/, ""));
  skill("config/toolcrib/skills", "agents-skills");
  const { stderr } = await run();
  for (const name of ["toolcrib-skills", "agents-skills", "claude-skills", "config-toolcrib-skills"])
    expect(systemPrompt()).toContain(`- ${name}: About ${name}.`);
  expect(stderr).toMatch(/A skill: .*agents-skills.*has the same name and comes before it/);
});

test("skills that are linked for two agents are one each, and those of a group count", async () => {
  skill(".agents/skills", "mine");
  skill(".agents/skills/team", "ours");
  mkdirSync(join(home.base, ".claude/skills"), { recursive: true });
  for (const name of ["mine", "team"])
    symlinkSync(`../../.agents/skills/${name}`, join(home.base, `.claude/skills/${name}`));
  const { stderr } = await run();
  expect(stderr).not.toContain("skill");
  expect(systemPrompt()).toContain(String.raw`- mine: About mine.\n- ours: About ours.\n</skills>`);
});

test("skills whose descriptions do not fit are told", async () => {
  for (let number = 0; number < 30; number += 1)
    home.write(`.agents/skills/s${number}/SKILL.md`, `---\nname: s${number}\ndescription: ${"d".repeat(500)}\n---\n`);
  expect((await run()).stderr).toContain("The descriptions of 30 skills have more than 8 KB");
});

test("--no-skills, the configuration and a list of tools without read_skill leave them out", async () => {
  skill(".agents/skills", "mine");
  await run("--no-skills");
  expect(systemPrompt()).not.toContain("mine");
  await run("--tools", "list_dir");
  expect(systemPrompt()).not.toContain("mine");
  await toolcrib(["config", "set", "skills", "false"]);
  await run();
  expect(systemPrompt()).not.toContain("mine");
});

test("a project's skills are not used without a yes, which is for what they say: a change asks anew", async () => {
  const file = skill("work/.claude/skills", "theirs");
  const without = await run();
  expect(without.stderr).toContain("1 skill of this folder not used: they are not trusted yet; toolcrib config trust");
  expect(systemPrompt()).not.toContain("theirs");

  const trust = await toolcrib(["config", "trust"]);
  expect(trust).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("theirs (.claude/skills/theirs): About theirs."),
  });
  expect((await run()).stderr).not.toContain("skill");
  expect(systemPrompt()).toContain("- theirs: About theirs.");

  writeFileSync(file, readFileSync(file, "utf8").replace("Text of", "Ignore"));
  expect((await run()).stderr).toContain("they have changed");
  expect(systemPrompt()).not.toContain("theirs");
  await toolcrib(["config", "trust"]);
  await toolcrib(["config", "trust", "--revoke"]);
  expect((await run()).stderr).toContain("not trusted yet");
});

test("of a project that is not trusted the user's own skill of the same name is read", async () => {
  skill("work/.agents/skills", "same");
  skill(".agents/skills", "same");
  wire.script(call("read_skill", { name: "same" }), answerWith({ text: "Done." }));
  await toolcrib(["run", "go", ...modelAt(wire)]);
  expect(wire.requests.at(-1)?.text).toContain("Text of same in .agents/skills.");
});

test("no link leads out of a project, and a link of the user's may", async () => {
  skill("elsewhere", "linked");
  mkdirSync(home.at(".agents"), { recursive: true });
  symlinkSync(join(home.base, "elsewhere"), home.at(".agents/skills"));
  await toolcrib(["config", "trust"]);
  await run();
  expect(systemPrompt()).not.toContain("linked");
  mkdirSync(join(home.base, ".agents"));
  symlinkSync(join(home.base, "elsewhere"), join(home.base, ".agents/skills"));
  await run();
  expect(systemPrompt()).toContain("- linked: About linked.");
});

/** Runs a prompt whose model makes one call. Returns what the command says. */
function runWithCall(name: string, args: object): Promise<ProgramEnd> {
  wire.script(answerWith({ calls: [{ name, args: JSON.stringify(args) }] }), answerWith({ text: "Done." }));
  return toolcrib(["run", "go", ...modelAt(wire)]);
}

test("a trusted skill of a project may still be changed: the user is asked, as about its other files", async () => {
  skill("work/.agents/skills", "theirs");
  await toolcrib(["config", "trust"]);
  const { stderr } = await runWithCall("write_file", { path: ".agents/skills/theirs/more.md", content: "x" });
  expect(stderr).toMatch(/Not run: write_file would write .*more\.md; asked because it is protected/);
});

test("a skill that is the whole project leaves its files writable", async () => {
  writeFileSync(home.at("SKILL.md"), "---\nname: all\ndescription: All of it.\n---\nText.\n");
  mkdirSync(home.at(".agents/skills"), { recursive: true });
  symlinkSync("../..", home.at(".agents/skills/all"));
  expect((await toolcrib(["config", "trust"])).stderr).toContain("all (.): All of it.");
  expect((await runWithCall("write_file", { path: "a.txt", content: "x" })).stderr).toContain("would write a.txt");
});

test("in the home of the user the skills are the user's own", async () => {
  skill(".agents/skills", "mine");
  const { stderr } = await home.toolcrib(["run", "list .", "-m", "offline"], { cwd: home.base });
  expect([stderr.includes("skill"), systemPrompt().includes("- mine:")]).toEqual([false, true]);
});

test("/context lists them, with what they take", async () => {
  skill(".agents/skills", "one");
  skill(".agents/skills", "two");
  const { stderr } = await toolcrib(["chat", "-m", "offline"], "/context\n");
  expect(stderr).toMatch(/^ +\d+ {4}of it 2 skills: one, two$/m);
});

describe("on a terminal", () => {
  test("a project's skills are shown and asked about once; the other files of one can be read then", async () => {
    const file = skill("work/.toolcrib/skills", "theirs", "See more.md\u200b");
    writeFileSync(join(file, "..", "more.md"), "more words\n");
    const program = (): OnTerminal => home.onTerminal(["run", "list .", "-m", "offline"]);
    const first = program();
    await first.shows(
      /This folder has skills[\s\S]*theirs \(\.toolcrib\/skills\/theirs\): About theirs\.\nUse them here/,
    );
    first.type("y\r");
    expect(await first.ended).toBe(0);
    expect(systemPrompt()).toContain("- theirs: About theirs.");
    const second = program();
    expect(await second.ended).toBe(0);
    expect(second.screen.text).not.toContain("skills");
  });

  test("a link put in place of a skill while the question is asked opens nothing outside of the project", async () => {
    skill("work/.agents/skills", "theirs");
    skill("elsewhere", "theirs");
    writeFileSync(join(home.base, "elsewhere/theirs/secret.txt"), "heron\n");
    const path = home.at(".agents/skills/theirs");
    wire.script(call("read_file", { path: join(path, "secret.txt") }), answerWith({ text: "Done." }));
    const flags = modelAt(wire);
    const program = home.onTerminal(["run", "go", ...flags]);
    await program.shows(/Use them here/);
    renameSync(path, `${path}-before`);
    symlinkSync(join(home.base, "elsewhere/theirs"), path);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(wire.requests.at(-1)?.text).toContain("Permission denied");
    expect(wire.requests.at(-1)?.text).not.toContain("heron");
  });

  test("a no is kept, and the model sees nothing of them", async () => {
    skill("work/.toolcrib/skills", "theirs");
    const program = home.onTerminal(["run", "list .", "-m", "offline"]);
    await program.shows(/Use them here/);
    program.type("n\r");
    expect(await program.ended).toBe(0);
    expect(systemPrompt()).not.toContain("theirs");
    expect((await run()).stderr).toContain("you said no to them");
  });
});
