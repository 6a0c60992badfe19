import type { ScriptedReply } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { type Connected, connect, createScenario } from "../testing/scenario.ts";
import { permissionModes } from "./index.ts";

/** Holds for the word hold, and answers everything else with the mode that it runs in. */
function modelOf(mode: () => string): ScriptedReply {
  return ({ messages }) => {
    const last = messages.at(-1);
    const isHold = last?.role === "user" && JSON.stringify(last.content).includes("hold");
    return isHold ? { calls: [{ name: "hold" }] } : mode();
  };
}

/** A session whose mode takes a while to change, and a client that writes lines by words. */
async function opened(folder: string) {
  let current = "ask";
  const scenarios: ReturnType<typeof createScenario>[] = [];
  const create = () => {
    const scenario = createScenario(folder, Array(9).fill(modelOf(() => current)));
    scenarios.push(scenario);
    const select = async (id: string): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      current = id;
    };
    const modes = { current, available: permissionModes, select };
    return { ...scenario.session, modes };
  };
  const client = await connect({ createSession: create, openSession: create });
  await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
  return { ...client, held: () => scenarios.at(-1)?.held };
}

let ids = 100;
const session = { sessionId: "one" };
const sayings = { hold: 0, hi: 0, hello: 0 };

/** Returns the line of a message, and its id; a notification has none. */
function lineOf(word: string, cwd: string): { id?: number; line: string } {
  if (word === "cancel") return { line: JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: session }) };
  const id = ids++;
  const params: Record<string, object> = {
    load: { ...session, cwd, mcpServers: [] },
    resume: { ...session, cwd },
    close: session,
    set_mode: { ...session, modeId: "full" },
  };
  const method = word in sayings ? "prompt" : word;
  const given = params[method] ?? { ...session, prompt: [{ type: "text", text: word }] };
  return { id, line: JSON.stringify({ jsonrpc: "2.0", id, method: `session/${method}`, params: given }) };
}

/** Writes messages in one piece, and resolves to how each request was answered. */
async function writeAtOnce(words: string, folder: string, { write, lines }: Connected): Promise<() => Promise<string>> {
  const messages = words.split(" ").map((word) => lineOf(word, folder));
  write(messages.map(({ line }) => line).join("\n"));
  const answerOf = async (id: number): Promise<string> => {
    const find = () => lines.map((line) => JSON.parse(line)).find((one) => one.id === id && !one.method);
    await expect.poll(find).toBeDefined();
    const { result, error } = find();
    return error ? String(error.code) : (result.stopReason ?? "ok");
  };
  const asked = messages.flatMap(({ id }) => id ?? []);
  return async () => (await Promise.all(asked.map(answerOf))).join(" ");
}

describe("messages are handled in the order in which they came", () => {
  test.each([
    ["a cancel while nothing runs cancels nothing", "cancel hi", "end_turn"],
    ["nor do several", "cancel cancel hi", "end_turn"],
    ["a cancel ends the prompt before it", "hold cancel", "cancelled"],
    ["and not the one after it", "hold cancel hi", "cancelled end_turn"],
    ["each its own", "hold cancel hold cancel hi", "cancelled cancelled end_turn"],
    ["also one that waits for what came before it", "set_mode hold cancel hi", "ok cancelled end_turn"],
    ["a second prompt is refused", "hold hi cancel", "cancelled -32600"],
    ["a mode is set before the prompt that follows", "set_mode hi", "ok end_turn"],
    ["and while a turn runs", "hold set_mode cancel", "cancelled ok"],
    ["a prompt waits for its session to open", "load hi", "ok end_turn"],
    ["so does one after resume", "resume hold close", "ok cancelled ok"],
    [
      "a turn that runs keeps its session from being opened again",
      "hold load resume cancel",
      "cancelled -32600 -32600",
    ],
    ["once it is cancelled it does not", "hold cancel load hi", "cancelled ok end_turn"],
    ["a session that is closed takes no prompt", "close hi", "ok -32002"],
    ["and opens again", "close load hi", "ok ok end_turn"],
  ])("%s: %s", async (_, words, answers) => {
    const folder = temporaryFolder("acp");
    const client = await opened(folder);
    expect(await (await writeAtOnce(words, folder, client))()).toBe(answers);
    if (words.startsWith("set_mode")) expect(client.text("agent_message_chunk")).toBe("full");
    client.leave();
    await client.serving.closed;
  });

  test.each([
    ["cancel hello", "end_turn"],
    ["cancel set_mode hello", "ok end_turn"],
    ["load hello", "-32600 -32600"],
    ["resume", "-32600"],
    ["close", "ok"],
  ])("while a turn runs: %s", async (words, answers) => {
    const folder = temporaryFolder("acp");
    const client = await opened(folder);
    const running = await writeAtOnce("hold", folder, client);
    await client.held();
    expect(await (await writeAtOnce(words, folder, client))()).toBe(answers);
    await client.agent.notify("session/cancel", session);
    expect(await running()).toBe("cancelled");
    client.leave();
    await client.serving.closed;
  });
});

test("a session whose turn runs is not opened again, and the turn goes on", async () => {
  const folder = temporaryFolder("acp");
  const client = await opened(folder);
  const running = await writeAtOnce("hold", folder, client);
  await client.held();
  for (const method of ["session/load", "session/resume"] as const)
    await expect(client.agent.request(method, { ...session, cwd: folder, mcpServers: [] })).rejects.toMatchObject({
      message: "A turn runs in this session; wait for its end, or cancel it, and open it then",
    });
  expect(client.of("tool_call_update").map(({ status }) => status)).toEqual(["in_progress"]);
  await client.agent.notify("session/cancel", session);
  expect(await running()).toBe("cancelled");
});

test.each([
  ["session/new", { mcpServers: [] }],
  ["session/resume", session],
])("nothing is told of a session before the answer to %s, which names or opens it", async (method, params) => {
  const folder = temporaryFolder("acp");
  const { session: one } = createScenario(folder, []);
  const open = () => ({ ...one, problems: ["The server git did not start."] });
  const client = await connect({ createSession: open, openSession: open });
  client.write(JSON.stringify({ jsonrpc: "2.0", id: "open", method, params: { ...params, cwd: folder } }));
  const told = () => client.lines.map((line) => JSON.parse(line)).map(({ id, method }) => id ?? method);
  await expect.poll(() => told().length).toBeGreaterThan(3);
  expect(told().slice(1, 4)).toEqual(["open", "session/update", "session/update"]);
});
