import { type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type ConnectedTools, connectTools } from "./connectTools.ts";

/* Input for a command that runs in the background there. */

let base = "";
beforeEach(() => {
  base = temporaryFolder("remote-input");
});

async function connect(): Promise<{ remote: ConnectedTools; registry: ToolRegistry }> {
  const remote = await connectTools(
    { command: "env", node: process.execPath },
    { cwd: base, name: "here", bash: { background: true, input: true } },
  );
  onTestFinished(() => remote.close());
  return { remote, registry: new ToolRegistry(remote.tools) };
}

async function start(registry: ToolRegistry, command: string): Promise<string> {
  return JSON.parse(await registry.execute("run_bash", { command, background: true, input: true })).id;
}

test("the tools with input are those of the packs: their effects are asked for, and nothing they say is a hint", async () => {
  const { remote } = await connect();
  expect(remote.tools.filter(({ hints }) => hints).map(({ name }) => name)).toEqual([]);
  const shell = remote.tools.filter(({ origin }) => origin === "here: @toolcrib/tools-bash");
  expect(shell.map(({ name, effects }) => [name, effects !== undefined])).toEqual([
    ["run_bash", true],
    ["read_output", true],
    ["stop_command", true],
    ["write_input", true],
  ]);
});

test("text reaches the command there, and closing ends it", async () => {
  const { registry } = await connect();
  const id = await start(registry, "cat; echo ended");
  expect(JSON.parse(await registry.execute("write_input", { id, text: "one\n" }))).toEqual({
    running: true,
    written: 4,
    waiting: 0,
    input: "open",
  });
  let read = "";
  const readMore = async (): Promise<string> => {
    read += JSON.parse(await registry.execute("read_output", { id, wait: 100 })).stdout;
    return read;
  };
  await expect.poll(readMore).toBe("one\n");
  expect(JSON.parse(await registry.execute("write_input", { id, text: "two\n", close: true })).input).toBe("closed");
  await expect.poll(readMore).toBe("one\ntwo\nended\n");
  expect(await registry.execute("write_input", { id, text: "three" })).toMatch(
    /^Error executing write_input: Not written: (its input is closed already|the command has ended)/,
  );
});

test("guards here see the text, the command that reads it, and where", async () => {
  const { registry } = await connect();
  const id = await start(registry, "cat");
  const seen: (readonly ToolEffect[] | undefined)[] = [];
  registry.guard(({ effects }) => {
    seen.push(effects);
    return "not now";
  });
  expect(await registry.execute("write_input", { id, text: "rm x\n" })).toContain("not now");
  expect(seen).toMatchObject([[{ kind: "execute", input: "rm x\n", into: "cat", cwd: base, remote: "here" }]]);
});

test("a command that ran before the remote was started again takes no input", async () => {
  const { registry } = await connect();
  const id = await start(registry, "cat");
  const host = JSON.parse(await registry.execute("run_bash", { command: "echo $PPID" })).stdout;
  process.kill(Number(host), "SIGKILL");
  await expect
    .poll(() => registry.execute("write_input", { id, text: "x" }))
    .toContain("no background command has the id");
});
