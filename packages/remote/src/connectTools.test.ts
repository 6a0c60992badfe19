import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ExecuteOptions, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { sharedFolder, temporaryFolder, writeIn } from "@toolcrib/testing";
import { createBashTools } from "@toolcrib/tools-bash";
import { createFsTools, proposeChanges } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Address, resolveAddress } from "./address.ts";
import { type ConnectedTools, type ConnectToolsOptions, connectTools } from "./connectTools.ts";

/** This machine, as a remote: the words that lead there are run as they are. */
const here: Address = { command: "env", node: process.execPath };

let base = "";
beforeEach(() => {
  base = temporaryFolder("remote");
});

async function connect(options: ConnectToolsOptions = {}, address: Address = here): Promise<ConnectedTools> {
  const remote = await connectTools(address, { cwd: base, name: "here", ...options });
  onTestFinished(() => remote.close());
  return remote;
}

const registryOf = ({ tools }: Pick<ConnectedTools, "tools">): ToolRegistry => {
  const registry = new ToolRegistry();
  registry.register(...tools);
  return registry;
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The process that runs there. */
async function hostOf(registry: ToolRegistry): Promise<number> {
  return Number(JSON.parse(await registry.execute("run_bash", { command: "echo $PPID" })).stdout);
}

describe("keeps what the packs keep:", () => {
  const shared = sharedFolder("remote-suite");
  let remote: ConnectedTools;
  beforeAll(async () => {
    remote = await connectTools(here, { cwd: shared });
  });
  afterAll(() => remote.close());
  let count = 0;
  const file = (): string => {
    const path = join(shared, `${count++}.txt`);
    writeFileSync(path, "one\ntwo\n");
    return path;
  };
  const validArgs: Record<string, () => Record<string, unknown>> = {
    read_file: () => ({ path: file() }),
    write_file: () => ({ path: file(), content: "x" }),
    edit_file: () => ({ path: file(), edits: [{ old_text: "one", new_text: "1" }] }),
    list_dir: () => ({ path: shared }),
    mkdir: () => ({ path: join(shared, `folder${count++}`) }),
    remove: () => ({ path: file() }),
    move: () => ({ source: file(), destination: join(shared, `moved${count++}`) }),
    apply_patch: () => ({
      input: `*** Begin Patch\n*** Add File: ${join(shared, `added${count++}`)}\n+x\n*** End Patch`,
    }),
    search_text: () => ({ query: "two", paths: [file()] }),
    search_files: () => ({ pattern: "*.txt", cwd: shared }),
    run_bash: () => ({ command: "echo x" }),
  };
  describe.each(Object.entries(validArgs))("%s", (name, args) => {
    testTool(test, {
      create: () => remote.tools.find((tool) => tool.name === name) ?? expect.unreachable(`there is no ${name}`),
      validArgs: args,
    });
  });
  test("all tools of the packs, and no other", () => {
    expect(remote.tools.map(({ name }) => name).sort()).toEqual(Object.keys(validArgs).sort());
  });
});

test("answers, errors and data are those of the packs here", async () => {
  writeIn(base, "src/a.ts", "const a = 1;\nconst b = 2;\n");
  writeIn(
    base,
    "picture.png",
    Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"),
  );
  const options = { root: base, cwd: base };
  const local = new ToolRegistry();
  local.register(...createFsTools(options), ...createSearchTools(options), ...createBashTools(options));
  const there = registryOf(await connect(options));
  const calls: readonly [string, Record<string, unknown>][] = [
    ["read_file", { path: "src/a.ts", limit: 1 }],
    ["read_file", { path: "missing.ts" }],
    ["read_file", { path: "/etc/passwd" }],
    ["read_file", { path: "picture.png" }],
    ["read_file", { path: 7 }],
    ["list_dir", { path: "." }],
    ["search_text", { query: "const", paths: ["."] }],
    ["search_text", { query: "(", paths: ["."], regex: true }],
    ["search_files", { pattern: "**/*.ts" }],
    ["edit_file", { path: "src/a.ts", edits: [{ old_text: "nothing", new_text: "" }] }],
    ["remove", { path: "/" }],
    ["run_bash", { command: "echo out; echo err >&2; exit 3" }],
    ["run_bash", { command: "sleep 60", timeout: 50 }],
  ];
  // What caused an error is an object of the other process.
  const plain = (outcome: unknown): unknown =>
    JSON.parse(JSON.stringify(outcome, (key, value) => (key === "cause" ? undefined : value)));
  for (const [name, args] of calls) {
    const [is, was] = [await there.invoke(name, args), await local.invoke(name, args)];
    expect(plain(is), `${name} ${JSON.stringify(args)}`).toEqual(plain(was));
    expect(await there.execute(name, args)).toBe(await local.execute(name, args));
  }
});

test("guards here see what a call there would do, and where", async () => {
  const remote = await connect();
  const registry = registryOf(remote);
  const seen: unknown[] = [];
  registry.guard(({ effects, origin }) => {
    seen.push(effects, origin);
    return "not now";
  });
  expect(await registry.execute("write_file", { path: "new/a.txt", content: "x" })).toContain("not now");
  expect(seen).toEqual([
    [{ kind: "write", path: join(base, "new/a.txt"), remote: "here" }],
    "here: @toolcrib/tools-fs",
  ]);
  expect(existsSync(join(base, "new"))).toBe(false);
});

describe("a call", () => {
  // The limit of the command itself is later than any end that is waited for.
  const run = (registry: ToolRegistry, command: string, options: ExecuteOptions = {}): Promise<string> =>
    registry.execute("run_bash", { command, timeout: 300_000 }, options);

  test("reports its progress while it runs, and ends there when it is aborted here", async () => {
    const registry = registryOf(await connect());
    const controller = new AbortController();
    let pid = 0;
    const answer = await run(registry, "echo $$; exec sleep 600", {
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

  test("ends there at the time limit here", async () => {
    const registry = registryOf(await connect());
    const words = `sleep 600.${process.pid}`;
    const answer = await run(registry, `exec ${words}`, { timeoutMs: 2000 });
    expect(answer).toContain("Timed out after 2000 ms");
    // A busy machine may not have started it.
    await expect.poll(() => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(words);
  });

  test("that runs when the remote dies may have completed, and the next call starts it again", async () => {
    const registry = registryOf(await connect());
    const first = await hostOf(registry);
    const answer = await run(registry, `kill -9 ${first}; sleep 600`);
    expect(answer).toContain("The remote here ended during the call, which may have completed");
    expect(answer).toContain("the next call starts it again");
    expect(await registry.execute("list_dir", { path: "." })).not.toContain("Error");
    expect(await hostOf(registry)).not.toBe(first);
  });
});

describe("nothing is left there", () => {
  test("after close, of commands in the background neither", async () => {
    const remote = await connect({ bash: { background: true } });
    const registry = registryOf(remote);
    const host = await hostOf(registry);
    await registry.execute("run_bash", { command: "echo $$ > pid; exec sleep 600", background: true });
    await expect.poll(() => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8")).toMatch(/\d\n/);
    const pid = Number(readFileSync(join(base, "pid"), "utf8"));
    expect(isAlive(pid)).toBe(true);
    await remote.close();
    await expect.poll(() => isAlive(host) || isAlive(pid)).toBe(false);
    expect(await registry.execute("list_dir", { path: "." })).toContain("The remote here was closed");
  });

  test("when the program here is killed", async () => {
    const program = `
      import { connectTools } from ${JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))};
      const { tools } = await connectTools(${JSON.stringify(here)}, { cwd: ${JSON.stringify(base)} });
      const bash = tools.find(({ name }) => name === "run_bash");
      await bash.execute({ command: "echo $PPID > host; echo $$ > pid; exec sleep 600" });
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    await expect.poll(() => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8")).toMatch(/\d\n/);
    const pids = ["host", "pid"].map((name) => Number(readFileSync(join(base, name), "utf8")));
    child.kill("SIGKILL");
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });
});

describe("the channel", () => {
  /** A command that runs further words as `script` says; they are its `"$@"`. */
  const through = (script: string, more: object = {}): Address => ({
    command: "sh",
    args: ["-c", script, "sh"],
    node: process.execPath,
    ...more,
  });

  test("may greet before the tools answer", async () => {
    const remote = await connect({}, through(`echo Welcome; echo '{"type":"motd"}'; echo; exec "$@"`));
    expect(remote.cwd).toBe(realpathSync(base));
  });

  test("may greet without a line break, also where the tools cannot be started", async () => {
    const remote = await connect({}, through(`printf "Last login $ "; exec "$@"`));
    expect(remote.cwd).toBe(realpathSync(base));
    const without = through(`printf "Last login $ "; PATH=/nowhere HOME=/nowhere exec /bin/sh "$2" "$3"`);
    await expect(connect({}, without)).rejects.toThrow("no Node.js 22.18 or later");
  });

  test("may join words by a shell, as ssh does", async () => {
    const remote = await connect({}, through('exec sh -c "$*"', { throughShell: true }));
    expect(await registryOf(remote).execute("run_bash", { command: "echo 'a  \"b'" })).toContain('a  \\"b');
  });

  test.each([
    ["that has no Node.js", through('PATH=/nowhere HOME=/nowhere exec /bin/sh "$2" "$3"'), "no Node.js 22.18 or later"],
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
    const registry = registryOf(remote);
    expect(await registry.execute("read_file", { path: "a.txt" })).toBe("one");
    expect(await registry.execute("read_file", { path: "../said" })).toContain("outside");
  });

  test("is one of the home there by ~, and options go before it", async () => {
    fakeDocker();
    writeIn(base, "home/app/.keep", "");
    writeIn(base, "other/.keep", "");
    vi.stubEnv("HOME", join(base, "home"));
    for (const [address, options, folder] of [
      ["docker:web:~/app", {}, "home/app"],
      ["docker:web:~", {}, "home"],
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

test("what a call would change is told from there, without changing anything", async () => {
  writeIn(base, "a.txt", "one\ntwo\n");
  const remote = await connect({ root: base, deny: ["secret"] });
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
    const here = await told(proposeChanges(name, args, { root: base, cwd: base, deny: ["secret"] }));
    expect(await told(remote.proposeChanges(name, args)), JSON.stringify(args)).toEqual(here);
  }
  expect(readFileSync(join(base, "a.txt"), "utf8")).toBe("one\ntwo\n");
});

test("relative paths start in the first root where no directory is named", async () => {
  const remote = await connectTools(here, { root: base });
  onTestFinished(() => remote.close());
  expect(remote.cwd).toBe(base);
});

test("arguments and answers that are too large to be sent end nothing else", async () => {
  writeFileSync(join(base, "large"), "x\n".repeat(20 * 2 ** 20));
  const registry = registryOf(await connect({ fs: { maxBytes: 2 ** 30, maxReplyBytes: 2 ** 30 } }));
  const host = await hostOf(registry);
  const content = "x".repeat(33 * 2 ** 20);
  expect(await registry.execute("write_file", { path: "new", content })).toContain(
    "was not asked (the arguments are larger",
  );
  expect(existsSync(join(base, "new"))).toBe(false);
  expect(await registry.execute("read_file", { path: "large", limit: 20 * 2 ** 20 })).toContain(
    "larger than the limit of 32 MB",
  );
  expect(await hostOf(registry)).toBe(host);
});

test("NODE_OPTIONS there are for commands, not for the tools", async () => {
  const address: Address = { command: "env", args: ["NODE_OPTIONS=--require=/no/such/module"], node: process.execPath };
  const registry = registryOf(await connect({}, address));
  expect(await registry.execute("run_bash", { command: 'echo "$NODE_OPTIONS"' })).toContain("/no/such/module");
});

test("what a command line holds is in no name", async () => {
  const remote = await connectTools(
    `command:env TOKEN=SECRET PATH=${join(process.execPath, "..")}:${process.env.PATH}`,
  );
  onTestFinished(() => remote.close());
  expect(JSON.stringify(remote.tools)).not.toContain("SECRET");
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

test("names that are taken here get a prefix", async () => {
  const registry = new ToolRegistry();
  registry.register(...createFsTools({ cwd: base }));
  const remote = await connect();
  expect(() => registry.register(...remote.tools)).toThrow(/read_file/);
  const { tools } = await connect({ prefix: "web_" });
  registry.register(...tools);
  writeIn(base, "a.txt", "a");
  expect(await registry.execute("web_read_file", { path: "a.txt" })).toBe("a");
  expect(await registry.execute("web_read_file", { path: "b.txt" })).toMatch(/^Error executing web_read_file: /);
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
