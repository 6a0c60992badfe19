import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Answer, run as runWith, temporaryFolder } from "../../fixtures/commands.ts";
import { type RunBashOptions, sandboxProblem } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";
import { mostMasks } from "./deniedPaths.ts";

/* The arguments of bubblewrap, and calls that are refused before it starts. The files named `process` run it. */

let inside: string;
let outside: string;
beforeEach(() => {
  inside = temporaryFolder("inside");
  outside = temporaryFolder("outside");
  return () => vi.unstubAllEnvs();
});

const run = (command: string, args = {}, options: RunBashOptions = {}): Promise<Answer> =>
  runWith(command, args, { root: inside, sandbox: true, ...options });

/** Puts a script in the place of bubblewrap. */
async function fakeBubblewrap(script: string, folder = join(outside, "bin")): Promise<string> {
  await mkdir(folder, { recursive: true });
  writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
  return folder;
}

const printsWords = "printf '%s\\n' \"$@\"";

describe("bubblewrap is told", () => {
  const linux = test.runIf(process.platform === "linux");

  linux(
    "to show all for reading, what is writable and what is readable, and to share nothing unless it is allowed",
    async () => {
      await fakeBubblewrap(printsWords);
      await mkdir(join(outside, "library"));
      const words = async (options: RunBashOptions = {}): Promise<string> =>
        (await run("true", { env: { A: "b" } }, options)).stdout.replaceAll("\n", " ");
      const plain = await words();
      expect(plain).toMatch(
        /^--setenv A b --unshare-all --unshare-user --disable-userns --die-with-parent --cap-drop ALL /,
      );
      expect(plain).toContain("--ro-bind / / --seccomp 4 --dev /dev --proc /proc --remount-ro /proc ");
      expect(plain).toContain(`--bind-fd 3 ${inside} --chdir ${inside} -- /bin/sh `);
      expect(plain).toContain("--size 1073741824 --tmpfs /tmp --size 1073741824 --tmpfs /run --remount-ro /dev ");
      expect(plain).not.toContain("--share-net");
      expect(await words({ sandbox: { network: true } })).toContain("--share-net");
      const library = join(outside, "library");
      expect(await words({ readable: [library, "/tmp/not there yet"] })).toMatch(
        new RegExp(`--ro-bind-fd \\d ${library} --bind-fd \\d ${inside} `),
      );
      const none = { processes: Number.POSITIVE_INFINITY, temporaryBytes: Number.POSITIVE_INFINITY };
      expect(await words({ sandbox: { limits: none } })).not.toContain("--size");
    },
  );

  linux("what to hide, keep and close, in a list of its own, after the writable directories", async () => {
    await mkdir(join(inside, "hide/secret"), { recursive: true });
    await mkdir(join(inside, "vault"));
    for (const name of [".env", ".envrc"]) writeFileSync(join(inside, name), "");
    const script = 'for word in "$@"; do [ "$last" = --args ] && tr "\\0" "\\n" <&$word; last=$word; done; true';
    await fakeBubblewrap(script);
    await mkdir(join(inside, "vault/hidden"));
    const hidden = ["hide/secret", "vault/hidden"].map((path) => join(inside, path));
    const words = (await run("true", {}, { deny: [".env", "vault/"], sandbox: { hidden } })).stdout.replaceAll(
      "\n",
      " ",
    );
    expect(words).toMatch(new RegExp(`--bind-fd \\d ${inside}/hide --ro-bind-fd \\d ${inside}/\\.envrc `));
    for (const path of ["vault", "hide/secret"])
      expect(words).toContain(`--tmpfs ${inside}/${path} --remount-ro ${inside}/${path} `);
    expect(words).not.toContain("vault/hidden");
    expect(words).toContain(`--ro-bind /dev/null ${inside}/.env `);
  });

  linux("the variables of a call, which are not set for itself", async () => {
    await fakeBubblewrap(`env > '${outside}/spied'; ${printsWords}`);
    const { stdout } = await run("true", { env: { LD_PRELOAD: "evil.so" } });
    expect(stdout).toMatch(/^--setenv\nLD_PRELOAD\nevil.so\n.*\n--\n.*\n\/bin\/sh\n-c\ntrue\n$/s);
    expect(readFileSync(join(outside, "spied"), "utf8")).not.toContain("LD_PRELOAD");
  });
});

describe("nothing is run", () => {
  const ran = (): boolean => existsSync(join(inside, "ran"));

  test("where bubblewrap is missing, which the error says, and what to do", async () => {
    vi.stubEnv("PATH", "");
    const missing = "bwrap (bubblewrap, Linux only) is not on PATH";
    await expect(run(`touch ${inside}/ran`)).rejects.toMatchObject({
      code: "execution_failed",
      recoverable: false,
      message: expect.stringContaining(`The sandbox that this tool must run in is not available: ${missing}`) as string,
    });
    expect(await sandboxProblem()).toContain(missing);
    const sandbox = { remedies: { unavailable: "pass --no-sandbox" } };
    await expect(run("true", {}, { sandbox })).rejects.toThrow(/Nothing was run; pass --no-sandbox$/);
    expect(ran()).toBe(false);
  });

  test("where bubblewrap cannot make it, which the error quotes, nor by a program that tools could have written", async () => {
    await fakeBubblewrap("echo 'bwrap: no permissions' >&2; exit 1");
    await expect(run(`touch ${inside}/ran`)).rejects.toThrow("bwrap: no permissions");
    await fakeBubblewrap("echo 'bwrap: Unknown option --disable-userns' >&2; exit 1");
    await expect(run(`touch ${inside}/ran`)).rejects.toThrow("bubblewrap 0.10 or a patched 0.8 is needed");
    for (const folder of [inside, join(inside, "bin"), join(outside, "node_modules/.bin")]) {
      vi.stubEnv("PATH", "");
      await fakeBubblewrap(`touch ${inside}/ran`, folder);
      await expect(run(`touch ${inside}/ran`)).rejects.toThrow("is not on PATH, or only in a directory");
    }
    expect(ran()).toBe(false);
  });

  test.runIf(process.platform === "linux")(
    "where a writable directory was replaced, or a hidden one is none",
    async () => {
      await fakeBubblewrap(":");
      const build = join(inside, "build/deep");
      await mkdir(build, { recursive: true });
      await mkdir(join(outside, "deep"));
      const tool = createRunBashTool({ root: inside, sandbox: { writable: build } });
      await rename(join(inside, "build"), join(inside, "moved"));
      await symlink(outside, join(inside, "build"));
      await expect(tool.execute({ command: "true" })).rejects.toThrow("was replaced after this tool was created");
      await rm(join(inside, "build"));
      await expect(tool.execute({ command: "true" })).rejects.toThrow("cannot be opened (ENOENT)");
      await mkdir(join(inside, "aim/secret"), { recursive: true });
      await symlink(join(inside, "aim"), join(inside, "link"));
      for (const name of ["missing", "link/secret", "link"]) {
        const sandbox = { hidden: [join(inside, name)] };
        await expect(run("true", {}, { sandbox })).rejects.toMatchObject({ code: "execution_failed" });
      }
      expect(() => createRunBashTool({ sandbox: { hidden: ["relative"] } })).toThrow(TypeError);
      expect(() => createRunBashTool({ sandbox: { writable: join(inside, "missing") } })).toThrow("does not exist");
    },
  );

  test.runIf(process.platform === "linux")("in a directory that it hides, or that is denied", async () => {
    await fakeBubblewrap(":");
    await mkdir(join(inside, "secret"));
    const sandbox = { hidden: [join(inside, "secret")] };
    for (const cwd of ["/run", join(inside, "secret")])
      await expect(run("pwd", { cwd }, { sandbox })).rejects.toMatchObject({ code: "invalid_arguments" });
    const denied = { code: "permission_denied" };
    for (const place of [inside, `${join(inside, "..")}/`])
      await expect(run("true", {}, { deny: [place] })).rejects.toMatchObject(denied);
    const refused = { code: "execution_failed", recoverable: false };
    await expect(run("true", { cwd: "/usr" }, { deny: [inside] })).rejects.toMatchObject(refused);
    await symlink(inside, join(inside, ".env"));
    await expect(run("true", {}, { deny: [".env"] })).rejects.toMatchObject(refused);
  });

  test.runIf(process.platform === "linux")("where more would have to be masked than can be", async () => {
    await fakeBubblewrap(":");
    for (let index = 0; index <= mostMasks; index += 1) writeFileSync(join(inside, `${index}.pem`), "");
    await expect(run("true", {}, { deny: ["*.pem"] })).rejects.toThrow(
      /denied .* more than 500 paths .* deny the folders that contain them\. Nothing was run/,
    );
    expect(await sandboxProblem({ root: inside, deny: ["*.pem"] })).toContain("more than 500 paths");
    expect(await sandboxProblem({ root: inside, deny: ["*.key"] })).toBeUndefined();
    // The folders above them are masked, too.
    for (let index = 0; index < mostMasks / 2; index += 1) {
      await mkdir(join(outside, `${index}`));
      writeFileSync(join(outside, `${index}/.env`), "");
    }
    expect(await sandboxProblem({ root: outside, deny: [".env"] })).toBeUndefined();
    await mkdir(join(outside, "0/1"));
    writeFileSync(join(outside, "0/1/.env"), "");
    expect(await sandboxProblem({ root: outside, deny: [".env"] })).toContain("more than 500 paths");
  });
});
