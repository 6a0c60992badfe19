import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sharedFolder } from "../fixtures/commands.ts";
import { createBashTools } from "./bash.ts";
import type { RunBashOptions } from "./bashOptions.ts";
import { createRunBashTool } from "./runBash.ts";

const folder = sharedFolder("options");
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Without types, as from JavaScript. */
const given = (options: unknown): RunBashOptions => options as RunBashOptions;

describe("an option that limits something and cannot be understood throws", () => {
  test.each(
    [
      [null, "/tmp", { rot: "/tmp" }, { Sandbox: true }, { root: undefined }, { root: null }],
      [undefined, null, "true", 1, [], { writeable: "/tmp" }].map((sandbox) => ({ sandbox })),
      [undefined, [], "", ["/tmp", null]].map((writable) => ({ sandbox: { writable } })),
      ["no", undefined].map((network) => ({ sandbox: { network } })),
      [{ unixSockets: 0 }, { limits: undefined }, { limits: { memory: 5 } }].map((sandbox) => ({ sandbox })),
      [undefined, null, "yes", { keeps: [] }, { keep: "HOME" }].map((scrubEnv) => ({ scrubEnv })),
      ["zsh", "./sh", null, "/bin/sh\0"].map((shell) => ({ shell })),
      [undefined, null, {}].map((runner) => ({ runner })),
      [undefined, null, {}, () => undefined].map((leftovers) => ({ leftovers })),
    ]
      .flat()
      .map((options) => [options]),
  )("%j", (options) => {
    expect(() => createBashTools(given(options))).toThrow(TypeError);
    expect(() => createRunBashTool(given(options))).toThrow(TypeError);
  });

  test.each([0, -1, 1.5, Number.NaN, "5", null, undefined])("a limit of %s", (processes) => {
    expect(() => createBashTools(given({ sandbox: { limits: { processes } } }))).toThrow(RangeError);
  });

  test("and the error names the nearest, or says what it may be", () => {
    expect(() => createBashTools(given({ sandboxx: true }))).toThrow(
      'createBashTools: unknown option "sandboxx"; did you mean "sandbox"?',
    );
    expect(() => createBashTools(given({ sandbox: "true" }))).toThrow(
      "createBashTools: sandbox must be true, false or an object of options, received a string; leave it out for false",
    );
  });
});

describe("maxTimeoutMs", () => {
  test("bounds what a call may ask for, and the default", async () => {
    const tool = createRunBashTool({ maxTimeoutMs: 5000 });
    await expect(tool.execute({ command: "true", timeout: 5001 })).rejects.toThrow(
      "Invalid arguments: timeout: must be a positive number of milliseconds up to 5000, got 5001",
    );
    await tool.execute({ command: "true", timeout: 5000 });
    expect(JSON.stringify(tool.getSchema())).toContain("ms, default 5000, at most 5000");
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, undefined, null])("of %s is refused", (limit) => {
    expect(() => createRunBashTool(given({ maxTimeoutMs: limit }))).toThrow(RangeError);
    if (limit !== undefined) expect(() => createRunBashTool(given({ timeoutMs: limit }))).toThrow(RangeError);
  });

  test("is never below timeoutMs", () => {
    expect(() => createRunBashTool({ timeoutMs: 6000, maxTimeoutMs: 5000 })).toThrow(RangeError);
  });
});

describe("shell", () => {
  test("runs the command and is named by the description", async () => {
    for (const [shell, name] of [
      [undefined, "/bin/sh"],
      ["sh", "/bin/sh"],
      ["bash", "bash"],
    ] as const) {
      const tool = createRunBashTool({ shell });
      expect(tool.getSchema().function.description).toContain(`(${name}, stdin closed)`);
      const command = '[ -n "$BASH_VERSION" ] && echo bash || echo sh';
      if (shell === "bash") expect(JSON.parse(await tool.execute({ command }))).toMatchObject({ stdout: "bash\n" });
    }
    const own = join(folder, "own");
    await writeFile(own, '#!/bin/sh\necho "own $1 $2"\n', { mode: 0o755 });
    expect(JSON.parse(await createRunBashTool({ shell: own }).execute({ command: "x" }))).toMatchObject({
      stdout: "own -c x\n",
    });
  });

  test("is never a program that tools could have written", async () => {
    const path = process.env.PATH;
    for (const place of [join(folder, "bin"), join(folder, "elsewhere/node_modules/.bin")]) {
      await mkdir(place, { recursive: true });
      await writeFile(join(place, "bash"), `#!/bin/sh\ntouch '${folder}/escaped'\n`, { mode: 0o755 });
      vi.stubEnv("PATH", `${place}:${path}`);
      await createRunBashTool({ shell: "bash", cwd: join(folder, "bin") }).execute({ command: "true" });
    }
    expect(existsSync(join(folder, "escaped"))).toBe(false);
  });

  test("given as a path is refused where tools could have written it, also through a link", async () => {
    const project = join(folder, "project");
    await mkdir(join(project, "node_modules/.bin"), { recursive: true });
    await writeFile(join(project, "bash"), "#!/bin/sh\n", { mode: 0o755 });
    await symlink(join(project, "bash"), join(folder, "linked"));
    for (const options of [
      { shell: join(project, "bash"), root: project },
      { shell: join(project, "bash"), cwd: project },
      { shell: join(project, "missing"), root: project },
      { shell: join(folder, "linked"), root: project },
      { shell: join(project, "node_modules/.bin/bash"), cwd: "/" },
    ]) {
      expect(() => createRunBashTool(options)).toThrow("shell: tools could write");
    }
    expect(() => createRunBashTool({ shell: "/bin/sh", root: "/" })).not.toThrow();
  });

  test("that is not there is an error that says so", async () => {
    vi.stubEnv("PATH", "");
    const tool = createRunBashTool({ shell: "bash" });
    await expect(tool.execute({ command: "true" })).rejects.toThrow("No bash on PATH");
  });
});
