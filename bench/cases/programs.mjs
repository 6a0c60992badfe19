import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { createProgramTools } from "@toolcrib/tools-program";
import { encode } from "gpt-tokenizer";
import { pair, spread, startChild } from "../pairs.mjs";
import { installPeer } from "../peers.mjs";

const peers = ["ai-code-mode", "pi-codemode", "tanstack-code-mode"];
const startOf = { code: "return 1", times: 20 };
const calls = 500;
const callsAtOnce = (count) =>
  `return (await Promise.all(Array.from({ length: ${count} }, () => tools.wait({})))).length`;
const replayed = "let sum = 0; for (let n = 0; n < 200; n += 1) sum += (await tools.look({ n })).length; return sum";

/** The start of a warm program beside peers, many calls at once beside what the limit allows, the tokens of a task, and journals. */
export async function programs(report, { rounds }) {
  const own = startChild("programs.mjs", { args: ["own"] });
  try {
    for (const name of peers) {
      const peer = startChild("programs.mjs", { args: [name, installPeer(name)] });
      try {
        report({
          name: `start of a warm program, to ${name}`,
          goal: 0.5,
          ...(await pair(own, peer, { rounds, messageA: startOf, messageB: startOf })),
          sameCount: true,
        });
        // As many as each lets run at once; the AI SDK refuses the 33rd.
        const some = { code: callsAtOnce(16) };
        report({
          name: `16 calls of 20 ms in one Promise.all, to ${name}`,
          ...(await pair(own, peer, { rounds, messageA: some, messageB: some })),
          sameCount: true,
        });
      } finally {
        peer.end();
      }
    }
    const plain = startChild("programs.mjs", { args: ["plain"] });
    const messages = { messageA: { code: callsAtOnce(calls) }, messageB: { calls } };
    report({
      name: `${calls} calls of 20 ms in one Promise.all, to the same without a program, 16 at once`,
      goal: 1.1,
      ...(await pair(own, plain, { rounds, ...messages })),
      sameCount: true,
    });
    plain.end();
  } finally {
    own.end();
  }
  await replay(report, rounds);
  await tokens(report);
  await journals(report);
}

const inTurn = (name) =>
  `let n = 0; for (let i = 0; i < 200; i += 1) n += (await tools.${name}({ i })).length; return n`;
const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];

/** The same program without and with a journal, one after the other, and its repetition by the journal after a crash. */
async function journals(report) {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-programs-"));
  try {
    for (const [name, what] of Object.entries({ look: "read-only", put: "other" })) {
      const [without, written, repeated] = [[], [], []];
      for (let round = 0; round < 25; round += 1) {
        const file = join(folder, `${name}-${round}.jsonl`);
        without.push(await timed(() => agentOf(name).chat("go")));
        written.push(await timed(() => agentOf(name, file).chat("go")));
        const lines = readFileSync(file, "utf8").split("\n");
        writeFileSync(
          file,
          `${lines
            .slice(
              0,
              lines.findIndex((line) => line.includes('"role":"tool"')),
            )
            .join("\n")}\n`,
        );
        const repeat = async () => (await Agent.resume(modelOf(), file, { tools: toolsOf(name) })).approve({});
        const time = await timed(repeat);
        if (round >= 5) repeated.push(time);
      }
      const about = `200 ${what} calls of a program, one after the other`;
      report({ name: `${about}, without a journal`, value: median(without), unit: "ms" });
      report({ name: `${about}, with a journal`, value: median(written), unit: "ms" });
      report({ name: `a journal of ${about}, repeated`, value: median(repeated), unit: "ms", goal: 50 });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function toolsOf(name) {
  const parameters = { type: "object", properties: { i: { type: "integer" } } };
  const execute = ({ i }) => `${i} ${"x".repeat(200)}`;
  const tool = defineTool({ name, description: "For a measurement.", parameters, readOnly: name === "look", execute });
  const tools = new ToolRegistry([tool]);
  tools.register(...createProgramTools(tools, { tools: [name] }));
  return tools;
}

/** Stands for a model: runs the program, then ends. */
function modelOf(code) {
  const program = { calls: [{ name: "run_program", args: { code } }] };
  return new ScriptedProvider(code === undefined ? ["done"] : [program, "done"]);
}

function agentOf(name, journal) {
  return new Agent(modelOf(inTurn(name)), { tools: toolsOf(name), ...(journal && { journal }) });
}

/** A program that goes on after an answer: all that it did before is repeated from its record. */
async function replay(report, rounds) {
  const child = startChild("programs.mjs", { args: ["replay"] });
  try {
    const times = [];
    await child.ask({ code: replayed });
    for (let round = 0; round < 3 * rounds; round += 1) times.push((await child.ask({ code: replayed })).ms);
    report({
      name: "a program of 200 calls repeated from its record",
      value: spread(times).median,
      unit: "ms",
      goal: 50,
    });
  } finally {
    child.end();
  }
}

/** Reads a record of some 2 KB. */
function records(callers) {
  return Array.from({ length: 50 }, (_, at) =>
    defineTool({
      name: `read_record_${at}`,
      description: `Reads a record of kind ${at} by its number, as JSON.`,
      parameters: {
        type: "object",
        properties: { id: { type: "integer", description: "Its number" } },
        required: ["id"],
      },
      readOnly: true,
      callers,
      execute: ({ id }) =>
        JSON.stringify({ id, total: id * 7, lines: Array.from({ length: 60 }, (_, n) => `line ${n} of record ${id}`) }),
    }),
  );
}

const task = "Read records 0 to 39, each of its own kind, and tell the sum of their totals.";
const callOf = (name, args, id) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } });
const direct = Array.from({ length: 8 }, (_, step) =>
  Array.from({ length: 5 }, (__, n) => callOf(`read_record_${step * 5 + n}`, { id: step * 5 + n }, `c${step}_${n}`)),
);
const code = `const ids = Array.from({ length: 40 }, (_, id) => id);
const all = await Promise.all(ids.map((id) => tools["read_record_" + id]({ id })));
return all.reduce((sum, text) => sum + JSON.parse(text).total, 0);`;

/** Input tokens (o200k, of the requests as they come to a service) of a task of 40 calls by one program, to eight replies of five calls. */
async function tokens(report) {
  const withPrograms = new ToolRegistry(records(["programs"]));
  withPrograms.register(...createProgramTools(withPrograms));
  const own = await inputTokens(withPrograms, [[callOf("run_program", { code }, "p")]]);
  const other = await inputTokens(new ToolRegistry(records(["model"])), direct);
  report({
    name: "input tokens of 40 calls in one program, to eight replies of five calls",
    value: own / other,
    unit: "times",
    goal: 0.15,
  });
  report({ name: "input tokens of 40 calls in one program", value: own, unit: "tokens" });
  report({ name: "input tokens of 40 calls in eight replies", value: other, unit: "tokens" });
}

/** Runs the task with a service on this machine that answers with these replies, and sums the tokens of its requests. */
async function inputTokens(tools, replies) {
  let sum = 0;
  let step = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { messages, tools: shown } = JSON.parse(body);
    sum += encode(JSON.stringify({ messages, tools: shown })).length;
    const tool_calls = replies[step];
    step += 1;
    const message = { role: "assistant", content: tool_calls ? null : "done", ...(tool_calls && { tool_calls }) };
    const choice = { index: 0, message, finish_reason: tool_calls ? "tool_calls" : "stop" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: "m", choices: [choice] }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
    const provider = new OpenAICompatibleProvider({ model: "m", baseURL, stream: false });
    await new Agent(provider, { tools }).chat(task);
    return sum;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
