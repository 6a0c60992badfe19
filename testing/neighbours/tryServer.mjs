// One server: its list against the official clients', its definitions on every wire, its results in every loop.
import { ToolRegistry } from "@toolcrib/core";
import { mountMcp } from "@toolcrib/mcp";
import { answerWith, definitionListProblems, WireServer } from "@toolcrib/testing";
import { clients, installServer, listOfficially } from "./installed.mjs";
import { loops, runGemini } from "./loops.mjs";
import { missingIn } from "./results.mjs";

/** The most tools of a request: chat completions take 128. */
const mostTools = 100;
/** The most failures of a server that are told. */
const mostLines = 20;

/** Tries a server of servers.json. Returns its row of the table, and a remark. Throws where a promise is not kept. */
export async function tryServer(server) {
  const { name } = server;
  const { entry, recorded, calls, secrets, written } = await installServer(server);
  const listed = [];
  for (const client of Object.keys(clients)) listed.push(await listOfficially(client, entry).catch(() => []));
  const failures = new Failures();
  const mount = await mountMcp({ mcpServers: { [name]: recorded } });
  try {
    const { tools } = mount;
    const problems = mount.problems.map(({ message }) => message).join("\n");
    for (const [index, client] of Object.keys(clients).entries())
      for (const tool of listed[index])
        if (!mountedName(tools, tool.name) && !problems.includes(tool.name))
          failures.add(
            client,
            `it lists ${tool.name}, and we do not: ${problems.slice(0, 300) || "no problem is told"}`,
          );
    await checkNewer(name, entry, tools, failures);
    const registry = new ToolRegistry(tools).use(remember());
    const asked = calls.map(([tool, args]) => ({ name: mountedName(tools, tool) ?? tool, args: JSON.stringify(args) }));
    const answers = await firstAnswers(registry, asked, written, failures);
    const missing = (request) =>
      answers.flatMap(({ tool, answer }) =>
        missingIn(request, answer, secrets).map((lost) => `${tool} loses ${lost.slice(0, 300)}`),
      );
    const sent = await tryLoops(registry, asked, problems, missing, failures);
    failures.throwAny();
    const failed = answers.filter(({ answer }) => answer.error || answer.result.isError).length;
    const row = [
      `${server.package} ${server.version}`,
      tools.length,
      ...listed.map(({ length }) => length || "none"),
      Math.ceil(JSON.stringify(tools.map((tool) => tool.getSchema())).length / 1000),
      ...refusedAsListed(listed),
      `${answers.length}${failed > 0 ? `, ${failed} failed` : ""}`,
    ];
    return { row, remark: `${tools.length} tools, ${sent} definitions, ${answers.length} calls` };
  } finally {
    await mount.close();
  }
}

/** The failures, each told once with the loops that have it. */
class Failures {
  #lines = new Map();

  add(loop, words) {
    this.#lines.set(words, (this.#lines.get(words) ?? new Set()).add(loop));
  }

  throwAny() {
    if (this.#lines.size === 0) return;
    const every = loops.length + 1;
    const lines = [...this.#lines].map(
      ([words, those]) => `${words} (${those.size === every ? "all loops" : [...those].join("; ")})`,
    );
    const more = lines.length > mostLines ? [`… and ${lines.length - mostLines} more`] : [];
    throw new Error([...lines.slice(0, mostLines), ...more].join("\n"));
  }
}

/** A client that asks for the newer revision gets the same tools. */
async function checkNewer(name, entry, tools, failures) {
  const newer = await mountMcp({ mcpServers: { [name]: entry } }, { versionNegotiation: "auto" });
  await newer.close();
  const namesOf = (list) => list.map((tool) => tool.name).join(" ");
  if (namesOf(newer.tools) === namesOf(tools)) return;
  const told = newer.problems.map(({ message }) => message).join("\n");
  failures.add("versionNegotiation auto", `it mounts other tools: ${namesOf(newer.tools).slice(0, 300)}: ${told}`);
}

/** Returns the server's own answers to the calls. */
async function firstAnswers(registry, calls, written, failures) {
  const answers = [];
  for (const { name: tool, args } of calls) {
    written();
    const outcome = await registry.invoke(tool, JSON.parse(args));
    const answer = written().findLast((message) => "id" in message && !("method" in message));
    if (answer) answers.push({ tool, answer });
    else failures.add("registry", `${tool} ${args} was not sent: ${outcome.error?.message}`);
  }
  return answers;
}

/** Middleware that answers an equal call as before, so that all loops show the same result. */
function remember() {
  const outcomes = new Map();
  return (call, next) => {
    const key = JSON.stringify([call.name, call.args]);
    if (!outcomes.has(key)) outcomes.set(key, next());
    return outcomes.get(key);
  };
}

/** Runs every loop over all tools; `missing` tells what a request with the results lacks. Returns how many definitions were sent. */
async function tryLoops(registry, calls, problems, missing, failures) {
  const names = [...new Set([...calls.map(({ name }) => name), ...registry.getToolNames()])];
  const wires = await WireServer.start({ isLenient: true });
  const address = { url: wires.url, v1: `${wires.url}/v1` };
  let count = 0;
  try {
    for (let at = 0; at < names.length; at += mostTools) {
      const part = names.slice(at, at + mostTools);
      const some = registry.clone();
      for (const name of names) if (!part.includes(name)) some.disable(name);
      const now = at === 0 ? calls : [];
      const check = (loop, wire, definitions, request) => {
        count += definitions.length;
        const sent = definitions.map((one) => (one.function ?? one).name);
        for (const name of part)
          if (!sent.includes(name) && !problems.includes(name)) failures.add(loop, `${name} is left out`);
        for (const problem of definitionListProblems(wire, definitions)) failures.add(loop, problem);
        for (const lost of at === 0 ? missing(request) : []) failures.add(loop, lost);
      };
      for (const [loop, wire, run] of loops) {
        wires.reset();
        wires.script(...(at === 0 ? [answerWith({ calls: now })] : []), answerWith({ text: "The end." }));
        await run(some, address).catch((error) => failures.add(loop, String(error)));
        const [first, second] = wires.requests;
        const tools = first?.body.tools ?? [];
        check(loop, wire, wire === "any" ? tools.map(withoutWire) : tools, second?.body);
        for (const problem of wires.requests.flatMap(({ problems }) => problems).filter(isOurs))
          failures.add(loop, problem);
        // Servers that run side by side share the memory of what models thought, so that losses mean nothing.
        wires.takeProblems();
      }
      const { definitions, parts } = await runGemini(some, now);
      check("toGeminiTool", "gemini", definitions, parts);
      for (const { inlineData } of parts.flatMap(({ functionResponse }) => functionResponse.parts ?? []))
        if (!geminiPictures.test(inlineData.mimeType)) failures.add("toGeminiTool", `it sends ${inlineData.mimeType}`);
    }
  } finally {
    await wires.close();
  }
  return count;
}

/** The pictures that Gemini takes. */
const geminiPictures = /^image\/(png|jpeg|webp|heic|heif)$/;

/** Definitions are checked apart, and some SDKs send fields that they made up. */
const isOurs = (problem) => !/^tools\b|has the unknown field/.test(problem);

/** A definition of one of the wires as all have it. */
function withoutWire({ function: inner, ...outer }) {
  const { name, description, parameters, input_schema } = inner ?? outer;
  return { name, description, parameters: parameters ?? input_schema };
}

/** Finds a tool by the server's name for it; where that is long its beginning decides. */
function mountedName(tools, name) {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  const own = tools.map((tool) => [tool.name, tool.name.split("__").slice(2).join("__")]);
  return (own.find(([, rest]) => rest === legal) ?? own.find(([, rest]) => rest.startsWith(legal.slice(0, 20))))?.[0];
}

/** Counts the definitions that OpenAI, Anthropic and Gemini would refuse as the server lists them. */
function refusedAsListed(listed) {
  const definitions = (listed.find((tools) => tools.length > 0) ?? []).map(
    ({ name, description = name, inputSchema }) => ({
      responses: { type: "function", name, description, parameters: inputSchema, strict: false },
      messages: { name, description, input_schema: inputSchema },
      gemini: { name, description, parametersJsonSchema: inputSchema },
    }),
  );
  const isRefused = (wire) => (shapes) => definitionListProblems(wire, [shapes[wire]]).length > 0;
  return ["responses", "messages", "gemini"].map((wire) =>
    definitions.length === 0 ? "–" : definitions.filter(isRefused(wire)).length,
  );
}
