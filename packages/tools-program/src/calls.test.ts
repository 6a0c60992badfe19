import { AsyncLocalStorage } from "node:async_hooks";
import { limitOutput, type ToolCallInfo, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { echo, failureOf, registryOf, run, toolOf } from "../testing/registries.ts";
import { createProgramTools } from "./index.ts";

/** Returns a read-only tool that waits, and notes what runs beside what. */
function recorder(name = "look", readOnly = true) {
  const log: string[] = [];
  let now = 0;
  let most = 0;
  const tool = toolOf(
    name,
    async ({ id }) => {
      now += 1;
      most = Math.max(most, now);
      log.push(`+${name}${String(id)}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      log.push(`-${name}${String(id)}`);
      now -= 1;
      return String(id);
    },
    { readOnly },
  );
  return { tool, log, most: () => most };
}

describe("the registry that runs a program", () => {
  test("runs its calls: a clone with a tool off, a guard more or another middleware binds the program too", async () => {
    const registry = registryOf([echo]);
    const code = "return tools.echo({ a: 1 }).catch((error) => error.code + ': ' + error.message)";
    const execute = (where: ToolRegistry): Promise<string> => where.execute("run_program", { code });
    const off = registry.clone();
    off.disable("echo");
    const guarded = registry.clone().guard(({ name }) => name !== "echo" || "not today");
    const changing = registry.clone().use(async (call, next) => (call.name === "echo" ? "other" : next()));
    expect(await execute(off)).toBe("not_available: Tool not available: echo");
    expect(await execute(guarded)).toBe("permission_denied: Error executing echo: Permission denied: not today");
    expect(await execute(changing)).toBe("other");
    expect(await execute(registry)).toBe('{"a":1}');
  });

  test("is another one where the tool was put into another one", async () => {
    const elsewhere = new ToolRegistry([toolOf("echo", () => "elsewhere")]);
    elsewhere.register(...createProgramTools(new ToolRegistry([echo])));
    expect(await elsewhere.execute("run_program", { code: "return tools.echo()" })).toBe("elsewhere");
  });

  test("is asked anew at each call: a guard decides about each, with the frozen arguments and an id of its own", async () => {
    const seen: unknown[] = [];
    const registry = registryOf([echo]).guard(({ name, args, callId, labels, tool }) => {
      seen.push([name, callId, labels, Object.isFrozen(args), tool.name]);
      return true;
    });
    const code = "await tools.echo({ a: 1 }); await tools.echo({ a: 2 })";
    await registry.execute("run_program", { code }, { callId: "outer", labels: { chat: 1 } });
    const call = (name: string, id: string): unknown[] => [name, id, { chat: 1 }, true, name];
    expect(seen).toEqual([call("run_program", "outer"), call("echo", "outer:1"), call("echo", "outer:2")]);
  });

  test("counts as it is at each call: a tool that is taken off while the program runs is off, and a new guard decides", async () => {
    const registry = registryOf([
      echo,
      toolOf("turn", ({ off }) => (off ? registry.disable("echo") : registry.enable("echo"))),
    ]);
    const code = `const tell = () => tools.echo().catch((error) => error.code);
      const all = [await tell(), await tools.turn({ off: true }), await tell(), await tools.turn({}), await tell()];
      return all.join()`;
    expect(await registry.execute("run_program", { code })).toBe("{},true,not_available,true,{}");
  });

  test("gives calls of a program without an id ids that no other program has", async () => {
    const seen: (string | undefined)[] = [];
    const registry = registryOf([toolOf("note", () => "")]).use((call, next) => {
      if (call.within !== undefined) seen.push(call.callId);
      return next();
    });
    await registry.execute("run_program", { code: "await tools.note()" });
    await registry.execute("run_program", { code: "await tools.note()" });
    expect(new Set(seen).size).toBe(2);
    expect(seen[0]).toMatch(/^program-\d+:1$/);
  });

  test("leaves what a program gets whole, and cuts what it answers", async () => {
    const registry = registryOf([toolOf("much", () => "x".repeat(1000))]).use(limitOutput(100));
    const code = "const got = await tools.much(); text(got.length); return got";
    const output = await registry.execute("run_program", { code });
    expect(output).toMatch(/^1000\nx+\n\n\[truncated: shown 100 of 1005 bytes\]$/);
  });

  test("asks by `approve` of the outer call; without it the call rejects with the question", async () => {
    const registry = registryOf([echo]).guard(({ name }) => (name === "echo" ? { ask: "May it?" } : true));
    const code = "return tools.echo({ a: 1 }).catch((error) => error.code + ': ' + error.message)";
    const asked: unknown[] = [];
    const approve = (call: { callId: string | undefined }, question: { text: string }): boolean => {
      asked.push([call.callId, question.text]);
      return true;
    };
    expect(await registry.execute("run_program", { code }, { callId: "c", approve })).toBe('{"a":1}');
    expect(asked).toEqual([["c:1", "May it?"]]);
    const told = "approval_required: Error executing echo: Approval required: May it?";
    expect(await registry.execute("run_program", { code })).toBe(told);
    const denied = "permission_denied: Error executing echo: Permission denied: not so";
    expect(await registry.execute("run_program", { code }, { approve: () => "not so" })).toBe(denied);
  });

  test("ends calls at their own time limits, and the program can catch it", async () => {
    const slow = { ...toolOf("slow", () => new Promise(() => undefined)), timeoutMs: 5 };
    expect(await run("return tools.slow().catch((error) => error.message)", [slow])).toBe(
      "Error executing slow: Timed out after 5 ms",
    );
  });

  test("hands what the caller gives for calls within on to them", async () => {
    let seen: ToolCallInfo["caller"];
    const tool = toolOf("usage", () => "");
    const registry = registryOf([
      {
        ...tool,
        execute: async (_args, call) => {
          seen = call?.caller;
          return "";
        },
      },
    ]);
    const onUsage = (): void => undefined;
    await registry.execute("run_program", { code: "await tools.usage()" }, { caller: { onUsage } });
    expect(seen?.onUsage).toBe(onUsage);
  });
});

describe("calls run", () => {
  test("side by side where they are read-only, and any other alone, in the order in which they were made", async () => {
    const look = recorder();
    const write = recorder("write", false);
    const log: string[] = [];
    for (const one of [look, write]) one.log.push = (...entries: string[]) => log.push(...entries);
    const code = `await Promise.all([
      tools.look({ id: 1 }), tools.look({ id: 2 }), tools.write({ id: 1 }), tools.write({ id: 2 }), tools.look({ id: 3 }),
    ])`;
    await run(code, [look.tool, write.tool], { tools: ["look", "write"] });
    expect(log.slice(0, 2)).toEqual(["+look1", "+look2"]);
    expect(log.slice(4)).toEqual(["+write1", "-write1", "+write2", "-write2", "+look3", "-look3"]);
  });

  test.each([1, 5, 16])("at most %i at once", async (maxConcurrent) => {
    const look = recorder();
    const code = "return (await Promise.all(Array.from({ length: 40 }, (_, id) => tools.look({ id })))).length";
    expect(await run(code, [look.tool], { maxConcurrent })).toBe("40");
    expect(look.most()).toBe(maxConcurrent);
  });

  test("500 in one Promise.all, with their results in the order of the calls", async () => {
    const later = toolOf("later", async ({ id }) => {
      await new Promise((resolve) => setTimeout(resolve, (Number(id) * 7) % 5));
      return String(id);
    });
    const code = "return Promise.all(Array.from({ length: 500 }, (_, id) => tools.later({ id })))";
    const all = Array.from({ length: 500 }, (_, id) => String(id));
    expect(JSON.parse(await run(code, [later], { maxCalls: 500 }))).toEqual(all);
  });

  test("in the context of the outer call", async () => {
    const store = new AsyncLocalStorage<string>();
    const registry = registryOf([toolOf("where", () => String(store.getStore()))]);
    const code = "await tools.where(); return Promise.all([tools.where(), tools.where()])";
    const outputs = ["a", "b"].map((at) => store.run(at, () => registry.execute("run_program", { code })));
    expect(await Promise.all(outputs)).toEqual(['["a","a"]', '["b","b"]']);
  });

  test("to their end before the answer, also those that were not awaited; none starts afterwards", async () => {
    const look = recorder();
    const write = recorder("write", false);
    const tools = { tools: ["look", "write"] };
    const code = "tools.look({ id: 1 }); tools.write({ id: 1 }); tools.write({ id: 2 }); return 'done'";
    const output = await run(code, [look.tool, write.tool], tools);
    expect(output).toBe("done\n\n[3 calls were not awaited, so the program did not see what came of it]");
    expect([...look.log, ...write.log]).toEqual(["+look1", "-look1", "+write1", "-write1", "+write2", "-write2"]);
  });

  test("no longer once the program has thrown: those in flight end and are listed, others never start", async () => {
    const write = recorder("write", false);
    const code =
      "tools.write({ id: 1 }); tools.write({ id: 2 }); await tools.unknown().catch(() => {}); throw new Error('no')";
    const early = "tools.write({ id: 1 }); tools.write({ id: 2 }); throw new Error('no')";
    const options = { tools: ["write"] };
    expect(await failureOf(early, [write.tool], options)).toMatch(
      /^Error: no .*\n> .*\n\nCalls that it made:\n1\. write \{"id":1\}: ok\n1 more call was not started\.$/,
    );
    expect(write.log).toEqual(["+write1", "-write1"]);
    expect(await failureOf(code, [write.tool], options)).toContain("3. unknown {}: Tool not found: unknown");
  });

  test("no more after an abort, which ends the program wherever it is", async () => {
    const controller = new AbortController();
    const write = recorder("write", false);
    const registry = registryOf([write.tool], { tools: ["write"] });
    const code = "for (let id = 1; ; id += 1) { await tools.write({ id }); if (id === 2) for (;;); }";
    registry.use((call, next) => {
      if (call.callId === "c:2") setTimeout(() => controller.abort(), 20);
      return next();
    });
    const output = await registry.execute("run_program", { code }, { callId: "c", signal: controller.signal });
    expect(output).toMatch(/^Error executing run_program: Aborted\n\nThe program was ended: it was stopped\n/);
    expect(await registry.execute("run_program", { code: "return 1" })).toBe("1");
    expect(write.log.filter((entry) => entry.startsWith("+"))).toEqual(["+write1", "+write2"]);
  });
});

describe("programs at once", () => {
  test("more of them than threads wait for one, and each has its own world", async () => {
    const registry = registryOf([echo]);
    const code = (n: number): string => `globalThis.n = (globalThis.n ?? 0) + ${n}; await tools.echo(); return n`;
    const outputs = Array.from({ length: 30 }, (_, n) => registry.execute("run_program", { code: code(n) }));
    expect(await Promise.all(outputs)).toEqual(Array.from({ length: 30 }, (_, n) => String(n)));
  });

  test("an abort while it waits for a thread ends it, and the others run", async () => {
    const registry = registryOf([recorder().tool]);
    const code = "return tools.look({ id: 1 })";
    const running = Array.from({ length: 6 }, () => registry.execute("run_program", { code }));
    const aborted = registry.execute("run_program", { code }, { signal: AbortSignal.timeout(1) });
    expect(await aborted).toBe("Error executing run_program: Aborted");
    expect(await Promise.all(running)).toEqual(Array.from({ length: 6 }, () => "1"));
  });

  test("one within a call of another never waits for the thread that the other holds", async () => {
    const inner = registryOf([echo]);
    const agent = toolOf("agent", async ({ id }) =>
      inner.execute("run_program", { code: `return "inner ${String(id)}"` }),
    );
    const registry = registryOf([agent]);
    const outputs = Array.from({ length: 8 }, (_, id) =>
      registry.execute("run_program", { code: `return tools.agent({ id: ${id} })` }),
    );
    expect(await Promise.all(outputs)).toEqual(Array.from({ length: 8 }, (_, id) => `inner ${id}`));
  });
});
