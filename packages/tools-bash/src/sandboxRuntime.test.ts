import { chmodSync, existsSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder, writeIn } from "../fixtures/commands.ts";
import { sandboxProblem } from "./bashOptions.ts";
import { createRunBashTool } from "./runBash.ts";
import { createSandboxRuntime, type SandboxRuntimeOptions } from "./sandboxRuntime.ts";

/* With packages that stand in for the true one, which `sandboxRuntime.process.test.ts` has. */

let root: string;
beforeEach(() => {
  root = temporaryFolder("runtime");
  const programs = temporaryFolder("programs");
  for (const name of ["bwrap", "socat", "rg"]) {
    writeIn(programs, name, "#!/bin/sh\n");
    chmodSync(join(programs, name), 0o755);
  }
  vi.stubEnv("PATH", `${programs}${delimiter}${process.env.PATH}`);
  return () => vi.unstubAllEnvs();
});

async function answerWith(given: SandboxRuntimeOptions): Promise<string> {
  const sandbox = createSandboxRuntime({ writable: root, ...given });
  return new ToolRegistry([createRunBashTool({ cwd: root, sandbox })]).execute("run_bash", { command: "touch made" });
}

describe("where it cannot be had, nothing is run and the reason is told", () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      "is not installed",
      () => Promise.reject(missing),
      "is not installed; run: npm install @anthropic-ai/sandbox-runtime",
    ],
    ["is another one", () => Promise.resolve({}), "has no SandboxManager; version 0.0.83 is needed"],
    ["does not know the system", fake({ isSupportedPlatform: () => false }), "works only on Linux and macOS"],
    ["is used by others", fake({ getProxyPort: () => 1 }), "other code of this process"],
    ["has no filter of sockets", fake({ warnings: ["seccomp not available"] }), "seccomp not available"],
    ["holds nothing", fake(), "in a test, it did not protect a protected path"],
    ["runs nothing", fake({ line: "echo why >&2" }), "in a test, it could not write where that is allowed: why"],
    [
      "is tried in the folder for temporary files",
      fake({ line: 'echo at "$TMPDIR_OF_TRIAL" >&2' }),
      `at ${join(realpathSync(tmpdir()), "toolcrib-")}`,
    ],
    ["lets read what is denied", fake({ line: trial("cat denied") }), "a denied path"],
    [
      "lets write outside",
      fake({ line: trial('touch "$PWD/../../$(basename "$(dirname "$PWD")")-outside"') }),
      "outside the writable",
    ],
  ])("the package %s", async (_what, load, words) => {
    const answer = await answerWith({ load });
    expect(answer).toContain("The sandbox that this tool must run in is not available: ");
    expect(answer).toContain(words);
    expect(existsSync(join(root, "made"))).toBe(false);
    expect(readdirSync(tmpdir()).filter((name) => name.endsWith("-outside"))).toEqual([]);
    expect(await sandboxProblem({ sandbox: createSandboxRuntime({ writable: root, load }) })).toContain(words);
  });

  test("wrong options throw", () => {
    expect(() => createSandboxRuntime({ host: [] } as never)).toThrow('unknown option "host"; did you mean "hosts"?');
    expect(() => createSandboxRuntime({ hosts: "example.com" as never })).toThrow("hosts must be an array of strings");
    expect(() => createSandboxRuntime({ hosts: undefined as never })).toThrow("hosts must be");
    expect(() => createSandboxRuntime({ unprotected: ["!a"] })).toThrow();
    expect(() => createSandboxRuntime({ writable: "" })).toThrow();
  });
});

/** A trial that holds what is protected, and then does this in its folder. */
function trial(what: string): string {
  return `cd "$TMPDIR_OF_TRIAL"/trial*; touch made; ${what}`;
}

interface Fake {
  isSupportedPlatform?: () => boolean;
  getProxyPort?: () => number | undefined;
  warnings?: string[];
  line?: string;
}

/** A package that confines nothing. */
function fake({ isSupportedPlatform, getProxyPort, warnings = [], line }: Fake = {}): () => Promise<unknown> {
  const found = {
    SandboxRuntimeConfigSchema: { parse: () => undefined },
    SandboxManager: {
      isSupportedPlatform: isSupportedPlatform ?? (() => true),
      getProxyPort: getProxyPort ?? (() => undefined),
      initialize: () => Promise.resolve(),
      checkDependencies: () => ({ errors: [], warnings }),
      wrapWithSandbox: (
        command: string,
        _shell: string,
        { filesystem }: { filesystem: { allowWrite: { path: string }[] } },
      ) => Promise.resolve(line?.replace('"$TMPDIR_OF_TRIAL"', filesystem.allowWrite.at(-1)?.path ?? "") ?? command),
      cleanupAfterCommand: () => {},
      reset: () => Promise.resolve(),
    },
  };
  return () => Promise.resolve(found);
}
