import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { beforeEach, expect, test } from "vitest";
import { answerOf as answerOfTool, temporaryFolder, writeIn } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import { type RunBashOptions, sandboxProblem } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";
import type { CommandToWrap, OwnSandbox, WrappedCommand } from "./ownSandbox.ts";

/* A sandbox of the caller's own: what it is told, what is believed of it, what is refused. */

let root: string;
beforeEach(() => {
  root = temporaryFolder("own");
});

const asked: CommandToWrap[] = [];

/** Confines nothing: it starts the command as it is, with the variables of the call set by a program. */
function wrapPlainly(command: CommandToWrap): WrappedCommand {
  asked.push(command);
  const variables = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
  return { file: "/usr/bin/env", args: ["--", ...variables, command.shell, "-c", command.command] };
}

interface Given extends Partial<Omit<OwnSandbox, "confinement">> {
  confinement?: Partial<OwnSandbox["confinement"]>;
}

function own({ confinement, ...given }: Given = {}): OwnSandbox {
  return {
    wrap: wrapPlainly,
    confinement: { words: "a test", writable: [root], network: false, protects: true, denies: true, ...confinement },
    ...given,
  };
}

async function answerOf(command: string, sandbox: OwnSandbox, options: RunBashOptions = {}): Promise<string> {
  asked.length = 0;
  const registry = new ToolRegistry([createRunBashTool({ cwd: root, sandbox, ...options })]);
  return registry.execute("run_bash", { command });
}

const put = (path: string, text = "kept"): void => writeIn(root, path, text);

test("it is told the command, the place and the variables of the call, and what it must keep", async () => {
  for (const path of [".git/config", ".git/HEAD", "sub/AGENTS.md", ".envrc", "src/a.ts", ".env", "keys/one"]) put(path);
  const tool = createRunBashTool({
    cwd: root,
    root,
    sandbox: own({ unprotected: [".envrc"] }),
    deny: [".env", "keys/"],
  });
  asked.length = 0;
  const answer = await tool.execute({ command: "echo $A", env: { A: "b c" }, cwd: "src" });
  expect(JSON.parse(answer)).toEqual({ stdout: "b c\n", stderr: "", exit_code: 0 });
  const [told] = asked;
  expect(told).toMatchObject({ command: "echo $A", shell: "/bin/sh", cwd: join(root, "src"), env: { A: "b c" } });
  expect([...(told?.protectedPaths ?? [])].sort()).toEqual(
    [".git/config", "sub/AGENTS.md"].map((path) => join(root, path)),
  );
  expect([...(told?.deniedPaths ?? [])].sort()).toEqual([".env", "keys"].map((path) => join(root, path)));
});

test("variables of the call are not set for the program that it starts", async () => {
  const sandbox = own({ wrap: () => ({ file: "/usr/bin/env", args: [], env: { OUTER: "1" } }) });
  const tool = createRunBashTool({ cwd: root, sandbox, scrubEnv: true });
  const { stdout } = JSON.parse(await tool.execute({ command: "true", env: { LD_PRELOAD: "/evil.so" } })) as Record<
    string,
    string
  >;
  expect(stdout).toContain("OUTER=1\n");
  expect(stdout).not.toContain("evil");
});

test.each([
  ["throws", () => Promise.reject(new Error("no daemon")), "no daemon"],
  ["answers nothing", () => undefined, "wrap returned no { file, args, env }"],
  ["answers no program", () => ({ file: "", args: [] }), "wrap returned no { file, args, env }"],
  ["answers a bare name", () => ({ file: "echo", args: [] }), "with an absolute file"],
  ["answers arguments of another kind", () => ({ file: "/bin/echo", args: [1] }), "wrap returned no { file, args"],
  ["answers variables of another kind", () => ({ file: "/bin/echo", args: [], env: { A: 1 } }), "wrap returned no"],
])("if it %s, nothing is run", async (_what, wrap, words) => {
  const answer = await answerOf("touch made", own({ wrap: wrap as OwnSandbox["wrap"] }));
  expect(answer).toMatch(/^Error executing run_bash: The sandbox that this tool must run in is not available: /);
  expect(answer).toContain(words);
  expect(answer).toContain("Nothing was run");
  expect(() => readFileSync(join(root, "made"))).toThrow("ENOENT");
});

test("what it leaves running is told, and ended is called once, also where the command cannot start", async () => {
  let ends = 0;
  const counting = (wrapped: WrappedCommand): OwnSandbox =>
    own({
      wrap: () => ({
        ...wrapped,
        ended: () => {
          ends += 1;
        },
      }),
    });
  expect(await answerOf("", counting({ file: "/bin/sh", args: ["-c", "exit 3"] }))).toContain("command: is empty");
  expect(ends).toBe(0);
  expect(await answerOf("true", counting({ file: "/bin/sh", args: ["-c", "exit 3"] }))).toContain('"exit_code":3');
  expect(ends).toBe(1);
  expect(await answerOf("true", counting({ file: join(root, "missing"), args: [] }))).toContain(
    "Error executing run_bash",
  );
  expect(ends).toBe(2);
  const left = await answerOf(
    "true",
    counting({ file: "/bin/sh", args: ["-c", "sleep 5 >/dev/null 2>&1 & echo $! >pid"] }),
  );
  process.kill(Number(readFileSync(join(root, "pid"), "utf8")));
  expect(left).toContain("still running in the background");
});

test("a protected path that it let through is named, and what it puts in empty places is not", async () => {
  put("AGENTS.md");
  const answer = await answerOf("echo bad >AGENTS.md; : >.bashrc; mkdir .vscode; echo x >.envrc", own());
  expect(answer).toContain("protected paths that were made or changed while this ran: ");
  for (const name of ["AGENTS.md", ".envrc"]) expect(answer).toContain(name);
  for (const name of [".bashrc", ".vscode"]) expect(answer).not.toContain(name);
});

test("of many changed paths those of git are named, and what an aborted command changed by the next answer", async () => {
  const command = `mkdir $(seq -w 010 040); for i in 0*; do echo x >$i/.envrc; done
    mkdir -p zz/.git/hooks zz/.git/objects; echo x >zz/.git/config; echo x >zz/.git/hooks/x`;
  expect(await answerOf(command, own())).toMatch(
    /while this ran: zz\/\.git\/config, zz\/\.git\/hooks, 010\/\.envrc, .* and \d+ more;/,
  );
  const tool = createRunBashTool({ cwd: root, sandbox: own() });
  const abort = new AbortController();
  const call = { signal: abort.signal, onProgress: (): void => abort.abort() };
  const aborted = tool.execute({ command: "echo x >.npmrc; echo made; sleep 60" }, call);
  await expect(aborted).rejects.toMatchObject({ code: "aborted" });
  expect((await answerOfTool(tool, "true")).stderr).toContain("while this ran: .npmrc;");
  expect((await answerOfTool(tool, "true")).stderr).toBe("");
});

test("a path that is not UTF-8 cannot be told, so the call is refused", async () => {
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from("/.envrc")]), "kept");
  expect(await answerOf("true", own())).toContain("a protected path is not UTF-8. Nothing was run");
  expect(asked).toEqual([]);
});

test("a call is refused where its folder, or a writable one, is denied", async () => {
  mkdirSync(join(root, "a/b"), { recursive: true });
  const sandbox = own({ confinement: { writable: [join(root, "a/b")] } });
  expect(await answerOf("true", sandbox, { root, deny: ["a/"] })).toContain(
    `${join(root, "a")} is denied, and commands run there`,
  );
  expect(asked).toEqual([]);
});

test("what a denied link led to stays denied when the link is gone", async () => {
  put("real", "secret");
  symlinkSync("real", join(root, ".env"));
  const tool = createRunBashTool({ cwd: root, root, sandbox: own(), deny: [".env"] });
  await tool.execute({ command: "rm .env" });
  asked.length = 0;
  await tool.execute({ command: "true" });
  expect(asked[0]?.deniedPaths).toEqual([join(root, "real")]);
});

test.each<[string, Given & Record<string, unknown>, string]>([
  ["without claims", { confinement: undefined as never, wrap: wrapPlainly, x: 1 }, "sandbox.x"],
  ["that protects nothing", { confinement: { protects: false } }, 'pass unprotected: ["./"] if they may'],
  ["with words of two lines", { confinement: { words: "a\nb" } }, "sandbox.confinement.words must be a line"],
  ["without words", { confinement: { words: " " } }, "sandbox.confinement.words must be a line"],
  ["with a relative place", { confinement: { writable: ["."] } }, "sandbox.confinement.writable must be"],
  [
    "with a missing place",
    { confinement: { writable: ["/missing/x"] } },
    "sandbox.confinement.writable: /missing/x does not exist",
  ],
  [
    "with a network of another kind",
    { confinement: { network: "all" as never } },
    "sandbox.confinement.network must be",
  ],
  ["with options of bubblewrap", { network: true }, "sandbox.network is for bubblewrap"],
  ["whose wrap is no function", { wrap: 1 as never }, "sandbox.wrap must be a function"],
])("a sandbox %s is refused when the tool is made", (_what, given, words) => {
  expect(() => createBashTools({ cwd: root, sandbox: own(given) })).toThrow(words);
});

test("claims without wrap are refused, and the reverse, as are denied paths that it does not keep", () => {
  const { confinement, wrap } = own();
  expect(() => createBashTools({ sandbox: { wrap } as never })).toThrow("sandbox.confinement must be");
  expect(() => createBashTools({ sandbox: { confinement } as never })).toThrow(
    "sandbox.confinement has no effect without",
  );
  const sandbox = own({ confinement: { denies: false } });
  expect(() => createBashTools({ cwd: root, root, sandbox, deny: [".env"] })).toThrow("deny would limit no command");
});

test("the switch takes one that protects nothing, and nothing is told then", async () => {
  put(".git/config");
  put(".git/HEAD");
  const sandbox = own({ confinement: { protects: false }, unprotected: ["./"] });
  expect(await answerOf("true", sandbox)).toContain('"exit_code":0');
  expect(asked[0]?.protectedPaths).toEqual([]);
});

test("an instance of a class is taken, and its problem is told", async () => {
  class Box implements OwnSandbox {
    readonly confinement = own().confinement;
    readonly #why = "no image";
    wrap(command: CommandToWrap): WrappedCommand {
      return wrapPlainly(command);
    }
    async problem(): Promise<string> {
      return Promise.resolve(this.#why);
    }
  }
  expect(await answerOf("echo in", new Box())).toContain('"stdout":"in\\n"');
  expect(await sandboxProblem({ cwd: root, sandbox: new Box() })).toBe("no image");
  expect(await sandboxProblem({ cwd: root, sandbox: own() })).toBeUndefined();
});

test("the effect of a command says that it is a sandbox of the caller's own, in words and fields", async () => {
  const texts = [
    own(),
    own({ confinement: { words: "sandbox; network" } }),
    own({ confinement: { network: true } }),
    own({ confinement: { network: ["b.example", "a.example"] } }),
    own({ confinement: { writable: [] } }),
    own({ unprotected: [".envrc"] }),
  ].map(async (sandbox) => {
    const [effect] = (await createRunBashTool({ cwd: root, sandbox }).effects?.({ command: "true" })) ?? [];
    return effect?.confinement;
  });
  const place = JSON.stringify([root]);
  expect(await Promise.all(texts)).toEqual([
    `own sandbox "a test"; writable ${place}`,
    `own sandbox "sandbox; network"; writable ${place}`,
    `own sandbox "a test"; network; writable ${place}`,
    `own sandbox "a test"; network ["a.example","b.example"]; writable ${place}`,
    'own sandbox "a test"; writable []',
    `own sandbox "a test"; writable ${place}; unprotected [".envrc"]`,
  ]);
});
