import { ToolRegistry } from "@toolcrib/core";
import { createFsTools } from "@toolcrib/tools-fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPolicy } from "../../policy/src/index.ts";
import { aiSession, checkSession, programOf, start, started } from "../testing/sessions.ts";
import { connectTools } from "./connectTools.ts";
import type { SessionProcess, SpawningSession } from "./sessionChannel.ts";

test("a session of the AI SDK runs the tools, and is started again where its program dies", () =>
  checkSession(aiSession()));

test("a session that refuses to start a program is an error that says so", async () => {
  const session: SpawningSession = { spawn: () => Promise.reject(new Error("stdin is not supported")) };
  await expect(connectTools(session)).rejects.toThrow(/could not start a program: stdin is not supported/);
});

/** As a remote lists a tool of the packs. */
const packs = createFsTools()
  .filter(({ name }) => name === "mkdir")
  .map((tool) => ({ ...tool, schema: tool.getSchema(), timeoutMs: 30_000, hasEffects: true }));

/** A session whose program answers as `script` says, in Node, instead of the one that it is asked to start. */
function lying(script: string, change: Partial<SessionProcess> = {}): SpawningSession {
  return {
    spawn: async () => {
      const program = `const send = (frame) => console.log(JSON.stringify(frame));
        const tool = (name) => ({ schema: { type: "function", function: { name, description: "d", parameters: { type: "object" } } },
          origin: "@toolcrib/tools-fs", timeoutMs: 30000, hasEffects: true, readOnly: true });
        const packs = ${JSON.stringify(packs)};
        const ready = () => send({ type: "ready", protocol: 1, roots: null, node: "v24", cwd: "/", tools: [tool("look"), tool("read_file"), ...packs] });
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          let frame; try { frame = JSON.parse(line); } catch { return; }
          if (!frame.type) return;
          ${script}
        });`;
      const child = start(`exec "${process.execPath}" -e '${program.replaceAll("'", "'\\''")}'`);
      return { ...programOf(child), ...change };
    },
  };
}

async function registryOf(session: SpawningSession): Promise<ToolRegistry> {
  const remote = await connectTools(session, { name: "box" });
  onTestFinished(() => remote.close());
  return new ToolRegistry(remote.tools);
}

describe("a remote that lies", () => {
  test("about what was asked is no yes of a guard", async () => {
    const script = `if (frame.type === "start") ready();
      else send({ type: "result", id: frame.id, output: "done" });`;
    const registry = await registryOf(lying(script));
    registry.guard(({ effects, effectsError }) => (effects === undefined ? String(effectsError) : true));
    expect(await registry.execute("mkdir", { path: "x" })).toContain("sent an unexpected answer");
  });

  test("about what its own tools do is not believed: they are judged as those of a stranger", async () => {
    const script = `if (frame.type === "start") ready();
      else if (frame.type === "effects-of") send({ type: "effects", id: frame.id, effects: [{ kind: "read", path: "/root/x" }] });
      else send({ type: "result", id: frame.id, output: "done" });`;
    const registry = await registryOf(lying(script));
    const seen = registry.listTools().map(({ name, origin, readOnly, hints }) => ({ name, origin, readOnly, hints }));
    const stranger = { origin: "box: own", readOnly: undefined, hints: { readOnly: true } };
    expect(seen.slice(0, 2)).toEqual([
      { name: "look", ...stranger },
      { name: "read_file", ...stranger },
    ]);
    expect(seen[2]).toMatchObject({ name: "mkdir", origin: "box: @toolcrib/tools-fs", hints: undefined });
    for (const mode of ["ask", "accept-edits"] as const) {
      const policy = createPolicy({ mode, remotes: { box: { roots: "/root" } } });
      registry.guard(policy.guard);
      for (const name of ["look", "read_file"])
        expect(await registry.execute(name, {})).toMatch(/^Error executing \w+: Approval required/);
    }
    const strict = await registryOf(lying(script));
    strict.guard(createPolicy({ mode: "read-only" }).guard);
    expect(await strict.execute("look", {})).toContain("Permission denied");
  });

  test("about its tools is an error that says so", async () => {
    const script = `send({ type: "ready", protocol: 1, roots: null, node: "v24", cwd: "/", tools: [null] });`;
    await expect(registryOf(lying(script))).rejects.toThrow(/listed its tools in another form/);
  });

  test("with progress of another form, or that nobody can take, changes nothing", async () => {
    const script = `if (frame.type === "start") ready();
      else { for (const progress of [null, 7, { message: {} }, { message: "half" }]) send({ type: "progress", id: frame.id, progress });
        send({ type: "result", id: frame.id, output: "done" }); }`;
    const seen: unknown[] = [];
    const remote = await connectTools(lying(script));
    onTestFinished(() => remote.close());
    const onProgress = (progress: unknown): never => {
      seen.push(progress);
      throw new Error("no");
    };
    expect(await remote.tools[0]?.execute({}, { onProgress })).toBe("done");
    expect(seen).toEqual([{ message: "half" }]);
  });

  test("and fails later is started again by the next call", async () => {
    const script = `if (frame.type === "start") ready();
      else send({ type: "failed", problem: "tired" });`;
    const registry = await registryOf(lying(script));
    const before = started.length;
    for (let call = 0; call < 3; call += 1)
      expect(await registry.execute("mkdir", { path: "x" })).toContain(
        "ended during the call, which may have completed (tired)",
      );
    expect(started.length).toBe(before + 2);
    await expect
      .poll(() => started.slice(before - 1, before + 1).every((child) => (child.exitCode ?? child.signalCode) !== null))
      .toBe(true);
  });
});

describe("a session that does not do as it should", () => {
  test("does not keep close waiting, nor let it throw", async () => {
    const script = `if (frame.type === "start") ready();`;
    const never = (): Promise<never> => new Promise(() => {});
    const throws = (): never => {
      throw new Error("gone");
    };
    const close = async (kill: () => Promise<never>): Promise<void> =>
      (await connectTools(lying(script, { kill, wait: never }))).close();
    await Promise.all([never, throws].map(close));
    for (const child of started) child.kill("SIGKILL");
  });

  test("by never starting the program is left at the time limit, and by a signal", async () => {
    const session: SpawningSession = { spawn: () => new Promise(() => {}) };
    await expect(connectTools(session, { startTimeoutMs: 50 })).rejects.toThrow(/did not answer within 50 ms/);
    const controller = new AbortController();
    const connecting = connectTools(session, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(connecting).rejects.toThrow("enough");
  });
});
