// Starting a shell command: run_bash through the registry, without and in each sandbox, or bare execFile.
import { execFile } from "node:child_process";
import { ToolRegistry } from "@toolcrib/core";
import { createRunBashTool } from "@toolcrib/tools-bash";
import { createSandboxRuntime } from "@toolcrib/tools-bash/sandbox-runtime";
import { peakMb } from "../../testing/src/peakMemory.mjs";
import { answer } from "../pairs.mjs";

const registry = new ToolRegistry();
registry.register(createRunBashTool({}));
const commands = 100;
/** In a sandbox, each of which takes many times as long. */
const sandboxedCommands = 10;
const sandboxes = { bubblewrap: () => true, runtime: () => createSandboxRuntime() };

let boxed;

answer(async ({ kind, command = "true" }) => {
  if (kind === "output") {
    const output = JSON.parse(await registry.execute("run_bash", { command, timeout: 120_000 }));
    return { count: output.exit_code, rssMb: peakMb() };
  }
  if (kind in sandboxes) {
    boxed ??= createRunBashTool({ sandbox: sandboxes[kind]() });
    for (let index = 0; index < sandboxedCommands; index += 1) await boxed.execute({ command });
    return sandboxedCommands;
  }
  for (let index = 0; index < commands; index += 1) {
    if (kind === "tool") await registry.execute("run_bash", { command });
    else await new Promise((resolve) => execFile("/bin/sh", ["-c", command], resolve));
  }
  return commands;
});
