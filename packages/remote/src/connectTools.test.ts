import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ExecuteOptions, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { sharedFolder, temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { createBashTools } from "@toolcrib/tools-bash";
import { createFsTools, proposeChanges } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Address, resolveAddress } from "./address.ts";
import { type ConnectedTools, type ConnectToolsOptions, connectTools } from "./connectTools.ts";

/** This machine, as a remote: the words that lead there are run as they are. */
const here: Address = { command: "env", node: process.execPath };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("one connection", () => {
  const base = sharedFolder("remote-shared");
  const options = { root: base, cwd: base, deny: ["secret"] };
  let remote: ConnectedTools;
  let registry: ToolRegistry;
  beforeAll(async () => {
    remote = await connectTools(here, { ...options, name: "here", bash: { background: true, input: true } });
  });
  afterAll(() => remote.close());
  beforeEach(() => {
    registry = new ToolRegistry(remote.tools);
  });

  let count = 0;
  const file = (): string => {
    const path = join(base, `${count++}.txt`);
    writeFileSync(path, "one\ntwo\n");
    return path;
  };
  const validArgs: Record<string, () => Record<string, unknown>> = {
    read_file: () => ({ path: file() }),
    write_file: () => ({ path: file(), content: "x" }),
    edit_file: () => ({ path: file(), edits: [{ old_text: "one", new_text: "1" }] }),
    list_dir: () => ({ path: base }),
    mkdir: () => ({ path: join(base, `folder${count++}`) }),
    remove: () => ({ path: file() }),
    move: () => ({ source: file(), destination: join(base, `moved${count++}`) }),
    apply_patch: () => ({
      input: `*** Begin Patch\n*** Add File: ${join(base, `added${count++}`)}\n+x\n*** End Patch`,
    }),
    search_text: () => ({ query: "two", paths: [file()] }),
    search_files: () => ({ pattern: "*.txt", cwd: base }),
    run_bash: () => ({ command: "echo x" }),
  };
  describe.each(Object.entries(validArgs))("keeps what the packs keep: %s", (name, args) => {
    testTool(test, {
      create: () => remote.tools.find((tool) => tool.name === name) ?? expect.unreachable(`there is no ${name}`),
      validArgs: args,
    });
  });

  test("has all tools of the packs, and no other: their effects are asked for, and nothing they say is a hint", () => {
    const more = ["read_output", "stop_command", "write_input"];
    expect(remote.tools.map(({ name }) => name).sort()).toEqual([...Object.keys(validArgs), ...more].sort());
    expect(remote.tools.filter(({ hints }) => hints).map(({ name }) => name)).toEqual([]);
    const shell = remote.tools.filter(({ origin }) => origin === "here: @toolcrib/tools-bash");
    expect(shell.map(({ name, effects }) => [name, effects !== undefined])).toEqual([
      ["run_bash", true],
      ["read_output", true],
      ["stop_command", true],
      ["write_input", true],
    ]);
  });

  test("gives answers, errors and data as the packs here do", async () => {
    writeIn(base, "src/a.ts", "const a = 1;\nconst b = 2;\n");
    const picture = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489";
    writeIn(base, "src/picture.png", Buffer.from(picture, "hex"));
    const local = new ToolRegistry([
      ...createFsTools(options),
      ...createSearchTools(options),
      ...createBashTools({ ...options, background: true, input: true }),
    ]);
    const calls: readonly [string, Record<string, unknown>][] = [
      ["read_file", { path: "src/a.ts", limit: 1 }],
      ["read_file", { path: "missing.ts" }],
      ["read_file", { path: "/etc/passwd" }],
      ["read_file", { path: "src/picture.png" }],
      ["read_file", { path: 7 }],
      ["list_dir", { path: "src" }],
      ["search_text", { query: "const", paths: ["src"] }],
      ["search_text", { query: "(", paths: ["src"], regex: true }],
      ["search_files", { pattern: "src/**/*.ts" }],
      ["edit_file", { path: "src/a.ts", edits: [{ old_text: "nothing", new_text: "" }] }],
      ["remove", { path: "/" }],
      ["run_bash", { command: "echo out; echo err >&2; exit 3" }],
      ["run_bash", { command: "sleep 60", timeout: 50 }],
    ];
    // What caused an error is an object of the other process.
    const plain = (outcome: unknown): unknown =>
      JSON.parse(JSON.stringify(outcome, (key, value) => (key === "cause" ? undefined : value)));
    for (const [name, args] of calls) {
      const [is, was] = [await registry.invoke(name, args), await local.invoke(name, args)];
      expect(plain(is), `${name} ${JSON.stringify(args)}`).toEqual(plain(was));
      expect(await registry.execute(name, args)).toBe(await local.execute(name, args));
    }
  });

  test("tells what a call would change, without changing anything", async () => {
    writeIn(base, "a.txt", "one\ntwo\n");
    const calls: readonly [string, Record<string, unknown>][] = [
      ["write_file", { path: "a.txt", content: "1\n" }],
      ["write_file", { path: "new.txt", content: "1\n" }],
      ["edit_file", { path: "a.txt", edits: [{ old_text: "two", new_text: "2" }] }],
      ["edit_file", { path: "a.txt", edits: [{ old_text: "three", new_text: "" }] }],
      ["write_file", { path: "secret", content: "" }],
      ["read_file", { path: "a.txt" }],
    ];
    const told = (changes: Promise<unknown>): Promise<unknown> => changes.catch(({ message }) => message);
    for (const [name, args] of calls) {
      const local = await told(proposeChanges(name, args, options));
      expect(await told(remote.proposeChanges(name, args)), JSON.stringify(args)).toEqual(local);
    }
    expect(readFileSync(join(base, "a.txt"), "utf8")).toBe("one\ntwo\n");
  });

  test("lets guards here see what a call there would do, and where", async () => {
    const seen: unknown[] = [];
    registry.guard(({ effects, origin }) => {
      seen.push(effects, origin);
      return "not now";
    });
    expect(await registry.execute("write_file", { path: "new/a.txt", content: "x" })).toContain("not now");
    const write = { kind: "write", path: join(base, "new/a.txt"), remote: "here" };
    expect(seen).toEqual([[write], "here: @toolcrib/tools-fs"]);
    expect(existsSync(join(base, "new"))).toBe(false);
  });

  test("gets a prefix where its names are taken here", async () => {
    expect(() => registry.register(...createFsTools({ cwd: base }))).toThrow(/read_file/);
    // Where no directory is named, relative paths start in the first root.
    const other = await connectTools(here, { root: base, prefix: "web_" });
    onTestFinished(() => other.close());
    expect(other.cwd).toBe(base);
    registry.register(...other.tools);
    const path = file();
    expect(await registry.execute("web_read_file", { path })).toBe("one\ntwo\n");
    expect(await registry.execute("web_read_file", { path: "b.txt" })).toMatch(/^Error executing web_read_file: /);
  });

  // The limit of the command itself is later than any end that is waited for.
  const run = (command: string, more: ExecuteOptions = {}): Promise<string> =>
    registry.execute("run_bash", { command, timeout: 300_000 }, more);

  test("reports the progress of a call while it runs, and ends it there when it is aborted here", async () => {
    const controller = new AbortController();
    let pid = 0;
    const answer = await run("echo $$; exec sleep 600", {
      signal: controller.signal,
      onProgress: ({ message = "" }) => {
        pid = Number(message.trim()) || pid;
        controller.abort();
      },
    });
    expect(answer).toBe("Error executing run_bash: Aborted; the change may have completed");
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test("ends a call there at the time limit here", async () => {
    const words = `sleep 600.${process.pid}`;
    const answer = await run(`exec ${words}`, { timeoutMs: 1000 });
    expect(answer).toContain("Timed out after 1000 ms");
    // A busy machine may not have started it.
    await expect.poll(() => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(words);
  });

  async function start(command: string): Promise<string> {
    return JSON.parse(await registry.execute("run_bash", { command, background: true, input: true })).id;
  }

  test("takes text to a command that runs in the background there, and closing ends it", async () => {
    const id = await start("cat; echo ended");
    expect(JSON.parse(await registry.execute("write_input", { id, text: "one\n" }))).toEqual({
      ...{ running: true, written: 4, waiting: 0, input: "open" },
    });
    let read = "";
    const readMore = async (): Promise<string> => {
      read += JSON.parse(await registry.execute("read_output", { id, wait: 100 })).stdout;
      return read;
    };
    await expect.poll(readMore).toBe("one\n");
    expect(JSON.parse(await registry.execute("write_input", { id, text: "two\n", close: true })).input).toBe("closed");
    await expect.poll(readMore).toBe("one\ntwo\nended\n");
    expect(await registry.execute("write_input", { id, text: "three" })).toMatch(
      /^Error executing write_input: Not written: (its input is closed already|the command has ended)/,
    );
  });

  test("lets guards here see the text, the command that reads it, and where", async () => {
    const id = await start("cat");
    const seen: (readonly ToolEffect[] | undefined)[] = [];
    registry.guard(({ effects }) => {
      seen.push(effects);
      return "not now";
    });
    expect(await registry.execute("write_input", { id, text: "rm x\n" })).toContain("not now");
    expect(seen).toMatchObject([[{ kind: "execute", input: "rm x\n", into: "cat", cwd: base, remote: "here" }]]);
  });

  /** The process that runs there. */
  const hostOf = async (): Promise<number> =>
    Number(JSON.parse(await registry.execute("run_bash", { command: "echo $PPID" })).stdout);

  test("that is lost in a call says that it may have completed, and the next call starts the remote again", async () => {
    const id = await start("cat");
    const first = await hostOf();
    const answer = await run(`kill -9 ${first}; sleep 600`);
    expect(answer).toContain("The remote here ended during the call, which may have completed");
    expect(answer).toContain("the next call starts it again");
    expect(await registry.execute("list_dir", { path: "." })).not.toContain("Error");
    expect(await hostOf()).not.toBe(first);
    // What ran before takes no input.
    expect(await registry.execute("write_input", { id, text: "x" })).toContain("no background command has the id");
  });

  test("leaves nothing there after close, of commands in the background neither", async () => {
    const host = await hostOf();
    await registry.execute("run_bash", { command: "echo $$ > pid; exec sleep 600", background: true });
    const said = join(base, "pid");
    await expect.poll(() => existsSync(said) && readFileSync(said, "utf8")).toMatch(/\d\n/);
    const pid = Number(readFileSync(said, "utf8"));
    expect(isAlive(pid)).toBe(true);
    await remote.close();
    await expect.poll(() => isAlive(host) || isAlive(pid)).toBe(false);
    expect(await registry.execute("list_dir", { path: "." })).toContain("The remote here was closed");
  });
});

let base = "";
beforeEach(() => {
  base = temporaryFolder("remote");
});

async function connect(options: ConnectToolsOptions = {}, address: Address = here): Promise<ConnectedTools> {
  const remote = await connectTools(address, { cwd: base, name: "here", ...options });
  onTestFinished(() => remote.close());
  return remote;
}

describe("the channel", () => {
  /** A command that runs further words as `script` says; they are its `"$@"`. */
  const through = (script: string, more: object = {}): Address => ({
    command: "sh",
    args: ["-c", script, "sh"],
    node: process.execPath,
    ...more,
  });

  test("may greet before the tools answer, also without a line break, and may join words by a shell, as ssh does", async () => {
    const script = `echo Welcome; echo '{"type":"motd"}'; echo; printf "Last login $ "; exec sh -c "$*"`;
    const remote = await connect({}, through(script, { throughShell: true }));
    expect(remote.cwd).toBe(realpathSync(base));
    const registry = new ToolRegistry(remote.tools);
    expect(await registry.execute("run_bash", { command: "echo 'a  \"b'" })).toContain('a  \\"b');
  });

  test.each([
    [
      "that greets without a line break and has no Node.js",
      through('printf "Last login $ "; PATH=/nowhere HOME=/nowhere exec /bin/sh "$2" "$3"'),
      "no Node.js 22.18 or later",
    ],
    ["that ends", through("echo no such container >&2; exit 125"), "(exit code 125): no such container"],
    ["that is not there", { command: "no-such-program" }, "no-such-program could not be started"],
    [
      "that answers with another protocol",
      through(`echo '{"type":"ready","protocol":99,"tools":[]}'; sleep 600`),
      "99",
    ],
    [
      "that damages what is sent",
      through(`exec 3<&0; { head -c 2000 <&3; head -c 1 <&3 >/dev/null; printf X; cat <&3; } | "$@"`),
      "what arrived is not what was sent",
    ],
  ])("%s is an error that says so", async (_what, address, says) => {
    await expect(connect({}, address)).rejects.toMatchObject({
      name: "RemoteError",
      remote: "here",
      message: expect.stringContaining(says),
    });
  });

  test("without a Node.js that is new enough says which was found", async () => {
    const old = join(base, "bin");
    writeIn(old, "node", "#!/bin/sh\necho 20.1.0\n");
    chmodSync(join(old, "node"), 0o755);
    const address: Address = { command: "env", args: ["HOME=/nowhere", `PATH=${old}:/usr/bin:/bin`] };
    await expect(connect({}, address)).rejects.toThrow(/no Node\.js 22\.18 or later \(found: 20\.1\.0[ .\d]*\)/);
    const named = connect({ node: "/nowhere/node" }, address);
    await expect(named).rejects.toThrow(/\(found: 20\.1\.0[ .\d]*, and none at the path of the option node\)/);
  });

  test("takes the Node.js that the option names, before the one of the address", async () => {
    const said = join(base, "said");
    writeIn(base, "mine", `#!/bin/sh\necho ran > ${said}\nexec '${process.execPath}' "$@"\n`);
    chmodSync(join(base, "mine"), 0o755);
    await connect({ node: join(base, "mine") }, { command: "env", node: process.execPath });
    expect(readFileSync(said, "utf8")).toBe("ran\n");
    await expect(connect({ node: "" })).rejects.toThrow(/"?node"? must be the path of a Node\.js there/);
  });

  test("is refused where it would be an option, or nothing at all", async () => {
    for (const text of ["docker:--privileged", "ssh:-oProxyCommand=x", "kubectl:a/-x", "ssh:", "web", "ftp:x"])
      await expect(connectTools(text)).rejects.toThrow(/names no remote; write docker:NAME/);
  });
});

describe("the folder there", () => {
  /** A `docker` that runs further words here, and notes those before them. */
  function fakeDocker(): string {
    const said = join(base, "said");
    writeIn(base, "bin/docker", `#!/bin/sh\necho "$1 $2 $3" > ${said}\nshift 3\nexec "$@"\n`);
    chmodSync(join(base, "bin/docker"), 0o755);
    vi.stubEnv("PATH", `${join(base, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`);
    onTestFinished(() => void vi.unstubAllEnvs());
    return said;
  }

  test("may end the text of a address: relative paths start there, and nothing outside is reached", async () => {
    const said = fakeDocker();
    writeIn(base, "app/a.txt", "one");
    const remote = await connectTools(`docker:web:${base}/app`);
    onTestFinished(() => remote.close());
    expect(readFileSync(said, "utf8")).toBe("exec -i web\n");
    const folder = realpathSync(join(base, "app"));
    expect(remote).toMatchObject({ name: "docker:web", cwd: folder, roots: [folder] });
    const registry = new ToolRegistry(remote.tools);
    expect(await registry.execute("read_file", { path: "a.txt" })).toBe("one");
    expect(await registry.execute("read_file", { path: "../said" })).toContain("outside");
  });

  test("is one of the home there by ~, and options go before it", async () => {
    fakeDocker();
    for (const folder of ["home/app", "other"]) mkdirSync(join(base, folder), { recursive: true });
    vi.stubEnv("HOME", join(base, "home"));
    for (const [address, options, folder] of [
      ["docker:web:~/app", {}, "home/app"],
      ["docker:web:~/app", { root: join(base, "other"), cwd: join(base, "other") }, "other"],
    ] as const) {
      const remote = await connectTools(address, options);
      await remote.close();
      expect(remote.cwd).toBe(realpathSync(join(base, folder)));
    }
  });

  test("that is not there is an error that names it", async () => {
    fakeDocker();
    await expect(connectTools("docker:web:/no/such")).rejects.toThrow("there is no directory /no/such");
    await expect(connect({ root: [base, "missing"] })).rejects.toThrow("there is no directory missing");
  });

  test.each([
    ["ssh:build", "ssh:build", undefined],
    ["ssh:me@build:/srv/app", "ssh:me@build", "/srv/app"],
    ["ssh:::1:~", "ssh:::1", "~"],
    ["ssh://me@build:2222", "ssh://me@build:2222", undefined],
    ["ssh://me@build:2222/srv/a:/b", "ssh://me@build:2222", "/srv/a:/b"],
    ["image:node:22", "image:node:22", undefined],
    ["image:local:5000/a/node:22:/app", "image:local:5000/a/node:22", "/app"],
    ["kubectl:web/pod:/app", "kubectl:web/pod", "/app"],
    ["ssh://me@build:2222/~/app", "ssh://me@build:2222", "~/app"],
    ["ssh://build/~", "ssh://build", "~"],
    ["ssh://build/~me", "ssh://build", "/~me"],
    ["command:bwrap --bind a:/b /c --", expect.stringMatching(/^bwrap [0-9a-f]{8}$/), undefined],
    ["command:env", "env", undefined],
  ])("of %s is told from the name", (text, name, folder) => {
    expect(resolveAddress(text)).toMatchObject({ name, folder });
  });
});

test("NODE_OPTIONS there are for commands, not for the tools, and what a command line holds is in no name", async () => {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const remote = await connectTools(`command:env TOKEN=SECRET NODE_OPTIONS=--require=/no/such/module PATH=${path}`);
  onTestFinished(() => remote.close());
  expect(JSON.stringify(remote.tools)).not.toContain("SECRET");
  const said = await new ToolRegistry(remote.tools).execute("run_bash", { command: 'echo "$NODE_OPTIONS"' });
  expect(said).toContain("/no/such/module");
});

test.each<[string, Address, Address]>([
  ["the words of a text", "command:env A=dev", "command:env A=prod"],
  ["arguments", { command: "env", args: ["A=dev"] }, { command: "env", args: ["A=prod"] }],
  ["variables", { command: "env", env: { ...process.env, A: "dev" } }, { command: "env", env: process.env }],
])("two commands have two names, which stay the same: %s", (_, one, other) => {
  const nameOf = (address: Address): string => resolveAddress(address).name;
  expect(nameOf(one)).toMatch(/^env [0-9a-f]{8}$/);
  expect(nameOf(one)).toBe(nameOf(one));
  expect(nameOf(one)).not.toBe(nameOf(other));
});

test.each([
  [{ root: "" }, /cannot be used: .*root/],
  [{ cwd: "/no/such/folder" }, /cannot be used: .*\/no\/such\/folder/],
  [{ bash: { runner: () => undefined } }, /bash\.runner cannot be sent/],
  [{ fs: [{ deny: ["a"] }] }, /fs must be a plain object/],
  [{ bash: true }, /bash must be a plain object/],
  [{ cwd: 5 }, /cwd must be the path of a directory/],
  [{ fs: { maxReplyBytes: Number.POSITIVE_INFINITY } }, /fs\.maxReplyBytes cannot be sent/],
  [{ deny: undefined }, /deny, which is undefined, cannot be sent/],
  [{ fs: { maxByte: 3 } }, /maxByte/],
  [{ prefix: "a b" }, /prefix must be/],
  [{ name: "a\nb" }, /name must be/],
  [{ startTimeoutMs: 0 }, /startTimeoutMs must be/],
  [{ rot: "/" }, /rot/],
])("the options %o are refused in words", async (options, says) => {
  await expect(connectTools(here, options as never)).rejects.toThrow(says);
});

test("a signal ends the connection, also while it is made", async () => {
  const controller = new AbortController();
  const connecting = connectTools({ command: "sleep", args: ["600"] }, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(connecting).rejects.toThrow("enough");
});
