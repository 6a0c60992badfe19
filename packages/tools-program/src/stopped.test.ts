// Programs that are ended from outside.
import { expect, test } from "vitest";
import { registryOf, toolOf } from "../testing/registries.ts";

const code = `text("begun"); await tools.write({ id: 1 }); await tools.wait({ id: 2 }); await tools.write({ id: 3 })`;
const list = `Printed:\nbegun\n\nCalls that it made:\n1. write {"id":1}: ok\n2. wait {"id":2}: Error executing wait: Aborted`;

test.each([
  ["a time limit of its caller", true, "Timed out after 2000 ms"],
  ["an abort", false, "Aborted"],
])("a program that is ended by %s lists its calls", { timeout: 20_000 }, async (_, isTime, why) => {
  for (const change of [() => {}, (guarded: ReturnType<typeof registryOf>) => void guarded.guard(() => true)]) {
    const controller = new AbortController();
    const wait = toolOf("wait", () => {
      if (!isTime) setTimeout(() => controller.abort(), 5);
      return new Promise(() => {});
    });
    const ran: unknown[] = [];
    const write = toolOf("write", ({ id }) => ran.push(id), { readOnly: false });
    const registry = registryOf([wait, write], { tools: ["wait", "write"] });
    change(registry);
    expect(await registry.execute("run_program", { code: "return 1" })).toBe("1");
    const options = isTime ? { timeoutMs: 2000 } : { signal: controller.signal };
    const output = await registry.execute("run_program", { code }, { callId: "call", ...options });
    expect(output).toContain(`Error executing run_program: ${why}\n\nThe program was ended: it was stopped\n\n${list}`);
    expect(ran).toEqual([1]);
  }
});
