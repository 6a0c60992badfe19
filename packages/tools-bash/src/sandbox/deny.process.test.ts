import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, answerOf, writeIn } from "../../fixtures/commands.ts";
import { placeOutside, whyNoSandbox } from "../../fixtures/sandbox.ts";
import type { RunBashOptions } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";

const sandboxed = test.runIf(whyNoSandbox === undefined);
let inside: string;
/** Neither below /tmp nor writable. */
let outside: string;

beforeAll(async () => {
  inside = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-deny-")));
  outside = await realpath(await mkdtemp(join(placeOutside, ".toolcrib-deny-")));
});

// Not by Node, which cannot remove paths that are too long for the system.
afterAll(() => void execFileSync("rm", ["-rf", inside, outside]));

type Run = (command: string, args?: Record<string, unknown>) => Promise<Answer>;

function toolWith(deny: readonly string[], options: RunBashOptions = {}): Run {
  const tool = createRunBashTool({ root: inside, sandbox: true, deny, ...options });
  return (command, args) => answerOf(tool, command, args);
}

/** Makes a file, and a folder for it. Every denied one holds the word "secret". */
const put = (path: string, text = "secret"): void => writeIn("/", path, text);

const all = (path: string): string => execFileSync("ls", ["-R", path], { encoding: "utf8" });

describe("what deny names", () => {
  sandboxed("is not read by any name or way, in a root and below, whatever the case", async () => {
    const root = join(inside, "read");
    for (const name of [".env", "a/b/.env", "a/.ENV", "a/key.pem", "vault/deep/token"]) put(join(root, name));
    put(join(root, "fine"), "fine");
    symlinkSync(".env", join(root, "by-link"));
    symlinkSync(root, join(root, "a/up"));
    const run = toolWith([".env", "*.pem", "vault/"], { root });
    const { stdout } =
      await run(`cat fine .env ./a/../.env ${root}/a/b/.env a/.ENV a/key.pem vault/deep/token by-link a/up/.env
      cat /proc/self/cwd/.env /proc/self/root${root}/.env; cat < .env; cp .env copy; cat copy; ln .env hard; cat hard
      grep -rh secret . ; find . -type f -exec cat {} + ; tar cf - . | grep -a secret; ls -A vault; dd if=.env; cd a; cat ../.env`);
    expect(stdout).toContain("fine");
    expect(stdout).not.toContain("secret");
    expect(await run("cat .env")).toMatchObject({ stdout: "", exit_code: 1 });
  });

  sandboxed("is neither changed, moved nor removed, nor are the folders above it", async () => {
    const root = join(inside, "change");
    const names = [".env", "a/b/.env", "a/vault/token", "c/vault/token"];
    for (const name of names) put(join(root, name));
    const before = all(root);
    const run = toolWith([".env", "vault/"], { root });
    await run(`for f in ${names.join(" ")}; do echo bad > $f; echo bad >> $f; rm -f $f; mv $f moved; chmod 777 $f; truncate -s 0 $f; done
      mv a moved; mv a/b moved; mv a/vault moved; mv c moved; rm -r a c; echo bad > a/vault/new; mkdir a/vault/new; rm -rf moved; true`);
    expect(all(root)).toBe(before);
    for (const name of names) expect(readFileSync(join(root, name), "utf8")).toBe("secret");
    expect((await run("echo lost > a/vault/new")).exit_code).not.toBe(0);
  });

  sandboxed("stays denied for the next command, which finds it under no other name", async () => {
    const root = join(inside, "next");
    put(join(root, "config/live/keys"));
    const run = toolWith(["./config/live/keys"], { root });
    await run("mv config other; mv config/live config/old; cp -r config copy");
    const { stdout } = await run("grep -rs secret . ; cat */live/keys other/live/keys config/old/keys");
    expect(stdout).toBe("");
  });

  sandboxed("stays denied where it is a link that a command moves away, with all links on its way", async () => {
    const root = join(inside, "moved-links");
    for (const path of ["config/local", "deep/er/token", "vault-target/token"]) put(join(root, path));
    symlinkSync("config/local", join(root, ".env"));
    symlinkSync("er", join(root, "deep/by"));
    mkdirSync(join(root, "a"));
    symlinkSync("../deep/by/token", join(root, "a/.env"));
    symlinkSync("vault-target", join(root, "vault"));
    const run = toolWith([".env", "./vault"], { root });
    const read =
      "cat config/local deep/er/token vault-target/token .gone gone deep/gone/token a/gone c/local 2>/dev/null";
    for (const move of [
      "mv .env .gone",
      "mv vault gone; ln -s config vault",
      "mv deep/by deep/gone",
      "rm a/.env; mv config c",
    ])
      expect((await run(`${read}; ${move}; ${read}`)).stdout, move).toBe("");
    expect((await run(read)).stdout).toBe("");
  });

  sandboxed("and is made by a command can be read by that one only", async () => {
    const root = join(inside, "made");
    mkdirSync(join(root, "sub"), { recursive: true });
    const run = toolWith([".env"], { root });
    expect((await run("echo mine > sub/.env; cat sub/.env")).stdout).toBe("mine\n");
    expect((await run("cat sub/.env; echo other > sub/.env")).stdout).toBe("");
    expect(readFileSync(join(root, "sub/.env"), "utf8")).toBe("mine\n");
  });

  sandboxed("is not read in a root that commands may not write, nor in the working directory", async () => {
    const root = join(outside, "root");
    for (const folder of [root, join(root, "build"), join(outside, "start")]) put(join(folder, ".env"));
    const options = { root, cwd: join(outside, "start"), sandbox: { writable: join(root, "build") } };
    const { stdout } = await toolWith([".env"], options)(`cat .env ${root}/.env ${root}/build/.env; echo ran`);
    expect(stdout).toBe("ran\n");
  });

  sandboxed("is kept from commands outside the roots where it has a place", async () => {
    put(join(outside, "ssh/id"));
    put(join(outside, "list/one.key"));
    put(join(outside, "list/two.txt"), "fine");
    symlinkSync(join(outside, "ssh"), join(outside, "to-ssh"));
    const command = `cat ${outside}/ssh/id ${outside}/to-ssh/id ${outside}/list/*`;
    expect((await toolWith([`${outside}/l*/*.key`, join(outside, "missing")])(command)).stdout).toBe(
      "secretsecretfine",
    );
    expect((await toolWith([join(outside, "to-ssh/")])(command)).stdout).toBe("secretfine");
    expect((await toolWith([join(outside, "ssh")])(command)).stdout).toBe("secretfine");
  });

  sandboxed("is found under names that are not UTF-8", async () => {
    const root = join(inside, "bytes");
    mkdirSync(root);
    const folder = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/.env")]), "secret");
    writeFileSync(Buffer.concat([folder, Buffer.from([0x2f, 0xff]), Buffer.from(".pem")]), "secret");
    put(join(root, "é/.env"));
    const { stdout } = await toolWith([".env", "*.pem"], { root })("cat */.env */*.pem; grep -rsh secret .; echo ran");
    expect(stdout).toBe("ran\n");
  });
});
