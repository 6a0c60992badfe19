import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const core = fileURLToPath(new URL("../../core/dist/index.js", import.meta.url));

test.skipIf(!existsSync(built) || !existsSync(core))(
  "the built package runs a program in its thread under plain node, loads nothing of the engine before, and lets the process end",
  () => {
    const script = `
    const { ToolRegistry } = await import(${JSON.stringify(core)});
    const { createProgramTools } = await import(${JSON.stringify(built)});
    const registry = new ToolRegistry();
    registry.register(...createProgramTools(registry));
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort" || name === "Worker").length;
    console.log(threads());
    console.log(await registry.execute("run_program", { code: "const a: number = 1; return a + 1" }));
  `;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 120_000,
    });
    expect({ out: run.stdout, error: run.stderr, status: run.status }).toEqual({ out: "0\n2\n", error: "", status: 0 });
  },
);
