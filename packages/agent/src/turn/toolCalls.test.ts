import { setTimeout as sleep } from "node:timers/promises";
import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { agentOf, anyTool, outputs, type Run, read } from "../../testing/turns.ts";
import type { Agent } from "../agent.ts";
import type { AgentEvent } from "../messages.ts";

/** `read` and `write` note when they start and end; each takes as long as it is told, and ends after another where that runs beside it. */
function tracing(): { tools: ToolRegistry; trace: string[] } {
  const trace: string[] = [];
  const execute: Run = async ({ id, ms = 0, after }, call) => {
    trace.push(`+${id}`);
    call.onProgress?.({ message: `half of ${id}` });
    await sleep(Number(ms), undefined, { signal: call.signal }).catch(() => trace.push(`aborted ${id}`));
    for (let left = 1000; after && !trace.includes(`-${after}`) && left > 0; left -= 1) await sleep(1);
    trace.push(`-${id}`);
    return `${id} done`;
  };
  const tools = new ToolRegistry(
    ["read", "write"].map((name) => anyTool(name, execute, { readOnly: name === "read" })),
  );
  return { tools, trace };
}

const call = (id: string, ms = 0, name = "read") => ({ id, name, args: { id, ms } });
const endingAfter = (id: string, after: string) => ({ id, name: "read", args: { id, after } });

test("neighbouring read-only calls run side by side, any other alone; results return in the order of the calls", async () => {
  const { tools, trace } = tracing();
  const calls = [endingAfter("a", "b"), call("b"), call("w", 5, "write"), endingAfter("c", "d"), call("d")];
  const { agent } = agentOf([{ calls }, "ok"], { tools });
  const results: string[] = [];
  for await (const event of agent.streamChat("go")) if (event.type === "tool-result") results.push(event.output);
  expect(trace).toEqual(["+a", "+b", "-b", "-a", "+w", "-w", "+c", "+d", "-d", "-c"]);
  expect(results).toEqual(["a", "b", "w", "c", "d"].map((id) => `${id} done`));
});

test("a tool whose readOnly cannot be read runs alone", async () => {
  const { tools } = tracing();
  const read = tools.get("read") ?? {};
  Object.defineProperty(read, "readOnly", {
    get() {
      throw new Error("cannot be read");
    },
  });
  const { agent } = agentOf([{ calls: [call("a"), call("b")] }, "ok"], { tools });
  expect(await agent.chat("go")).toBe("ok");
});

test("progress is reported while the tool runs", async () => {
  const { tools } = tracing();
  const { agent } = agentOf([{ calls: [call("a", 20)] }, "ok"], { tools });
  const types = (await read(agent.streamChat("go"))).map(({ type }) => type);
  expect(types.slice(1, 4)).toEqual(["tool-call", "tool-progress", "tool-result"]);
});

describe("abort", () => {
  async function abortAt(stop: (event: AgentEvent) => boolean, how: "signal" | "leave"): Promise<Agent> {
    const { tools, trace } = tracing();
    const calls = [call("a", 5), call("b", 10_000, "write"), call("c")];
    const { agent } = agentOf([{ calls }, "ok"], { tools });
    const controller = new AbortController();
    const reading = async (): Promise<void> => {
      for await (const event of agent.streamChat("go", { signal: controller.signal })) {
        if (!stop(event)) continue;
        if (how === "leave") break;
        controller.abort();
      }
    };
    // Who leaves has asked for the end.
    if (how === "leave") await reading();
    else await expect(reading()).rejects.toMatchObject({ code: "aborted" });
    expect(trace).not.toContain("+c");
    expect(await agent.chat("again")).toBe("ok");
    return agent;
  }

  test.each(["signal", "leave"] as const)(
    "by %s while a tool runs: the tool is ended and answered, the rest is not run",
    async (how) => {
      const agent = await abortAt((event) => event.type === "tool-progress" && event.id === "b", how);
      expect(outputs(agent)[0]).toBe("a done");
      expect(outputs(agent)[1]).toMatch(/^Error executing write: .*abort/i);
      expect(outputs(agent)[1]).not.toContain("Not run");
      expect(outputs(agent)[2]).toBe("Error executing read: Not run: aborted");
    },
  );

  test.each(["signal", "leave"] as const)("by %s between two calls: what has not started is not run", async (how) => {
    const agent = await abortAt((event) => event.type === "tool-result" && event.id === "a", how);
    expect(outputs(agent)).toEqual([
      "a done",
      "Error executing write: Not run: aborted",
      "Error executing read: Not run: aborted",
    ]);
  });

  test("a tool that ignores the signal does not delay the turn", async () => {
    const controller = new AbortController();
    const deaf: Run = () => {
      setTimeout(() => controller.abort(), 5);
      return new Promise(() => {});
    };
    const { agent } = agentOf([{ calls: [{ name: "deaf" }] }, "ok"], {
      tools: new ToolRegistry([anyTool("deaf", deaf)]),
    });
    await expect(agent.chat("go", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(await agent.chat("again")).toBe("ok");
  });
});
