import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { providerNames } from "@toolcrib/agent/models";
import { answerWith, jsonOf, type ProgramEnd, sharedFolder, sharedServer, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, command } from "../../fixtures/command.ts";

const key = "sk-not-a-real-key-0123456789";
const folder = sharedFolder("models");
const wire = await sharedWireServer();

/** The models of a server, as one lists them. */
function modelList(...names: string[]): object {
  return { object: "list", data: names.map((id) => ({ id, object: "model", created: 1, owned_by: "library" })) };
}
const usual = modelList("nomic-embed-text", "qwen4:8b");
let listing: unknown = usual;

const ollama = await sharedServer((request, response) => {
  if (!request.url?.endsWith("/models")) response.statusCode = 400;
  response.end(JSON.stringify(listing));
});
const ollamaHost = new URL(ollama).host;
writeFileSync(join(folder, "note.txt"), "the word is heron\n");

function toolcrib(args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> {
  return command(args, { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state"), ...env } });
}

/** A model that reads the note and answers. */
function readsAndAnswers(): void {
  wire.script(call("read_file", { path: "note.txt" }), answerWith({ text: "The word is heron." }));
}

describe("toolcrib run over a model", () => {
  test.each([
    ["openai", () => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${wire.url}/v1` })],
    ["anthropic", () => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: wire.url })],
  ])("a key of %s in the environment chooses it, and one line on stderr says so", async (name, env) => {
    readsAndAnswers();
    const { code, stdout, stderr } = await toolcrib(["run", "what is the word?"], env());
    expect(stderr).toMatch(
      new RegExp(
        `^Using ${name}/.*: ${name.toUpperCase()}_API_KEY is set\\. Another: -m provider/model\\.\n(?:  Hm\\.\n)?→ read_file`,
      ),
    );
    expect(stdout).toBe("The word is heron.\n");
    expect(code).toBe(0);
    expect(wire.requests[1]?.text).toContain("the word is heron");
  });

  test("--reasoning and --cache-ttl are sent as the model takes them", async () => {
    wire.script(answerWith({ text: "Yes." }));
    const flags = ["-m", "anthropic/claude-sonnet-5-5", "--reasoning", "none", "--cache-ttl", "1h"];
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: wire.url };
    expect(await toolcrib(["run", "hi", ...flags], env)).toMatchObject({ code: 0, stdout: "Yes.\n" });
    expect(wire.requests[0]?.body).toMatchObject({
      thinking: { type: "between_tools" },
      cache_control: { type: "ephemeral", ttl: "1h" },
      system: [{ cache_control: { type: "ephemeral", ttl: "1h" } }],
    });
  });

  test("an effort that the model does not take is refused before anything is sent, with those that it takes", async () => {
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: wire.url, TOOLCRIB_REASONING: "none" };
    const end = await toolcrib(["run", "hi", "-m", "anthropic/claude-opus-5-5"], env);
    expect(end).toMatchObject({
      code: 2,
      stderr:
        'toolcrib: claude-opus-5-5 does not accept reasoning "none": it always thinks. Set --reasoning to low, medium, high, xhigh or max.\n',
    });
    expect(wire.requests).toEqual([]);
  });

  test.each(["openrouter/some/model", "openai-compatible/some/model"])(
    "-m %s with --base-url asks that address for that model",
    async (model) => {
      readsAndAnswers();
      const flags = ["-m", model, "--base-url", `${wire.url}/v1`];
      const { code, stdout } = await toolcrib(["run", "what is the word?", ...flags], { OPENROUTER_API_KEY: key });
      expect(stdout).toBe("The word is heron.\n");
      expect(code).toBe(0);
      expect(wire.requests[0]?.body.model).toBe("some/model");
    },
  );

  test.each<[string, unknown]>([
    ["an object of another program", { data: [{ id: "1" }, { id: "2" }] }],
    ["a list of other things", { object: "list", data: [{ id: "1", object: "user" }] }],
    ["a list", [{ id: "1", object: "model" }]],
    ["nothing", null],
    ["a name with control characters", modelList("a\u001b]0;owned\u0007", "b\u009b2K", "c\u202e", "d e")],
    ["a name without an end", modelList("x".repeat(10_000))],
    ["a listing without an end", { ...usual, more: "x".repeat(3_000_000) }],
  ])("a local port that answers with %s is not taken for a model server", async (_what, answered) => {
    listing = answered;
    const { code, stderr } = await toolcrib(["run", "list ."], { OLLAMA_HOST: ollamaHost });
    listing = usual;
    expect(stderr).toMatch(
      /^No model is connected, so the offline stand-in answers by a few rules\. toolcrib --help says how to connect one\.\n/,
    );
    expect(code).toBe(0);
  });

  test("a server that the user names may list its models in its own format; the model and the address are shown", async () => {
    listing = { data: [{ id: "own" }] };
    const flags = ["-m", "lmstudio", "--base-url", `http://${ollamaHost}/v1`];
    const { stderr } = await toolcrib(["run", "hi", ...flags]);
    listing = usual;
    expect(stderr).toMatch(
      `Using openai-compatible/own: LM Studio at http://${ollamaHost}/v1 offers it. Another: -m provider/model.\n`,
    );
  });

  test.each([
    [
      "http://127.0.0.1:9/v1",
      /nothing answers at http:\/\/127\.0\.0\.1:9\/v1, so LM Studio offers no model; start it and/,
    ],
    ["http://me:secret@127.0.0.1:9/v1", /nothing answers at http:\/\/127\.0\.0\.1:9\/v1, so/],
  ])("a named server at %s that does not answer is reported; exit 3", async (address, says) => {
    const { code, stderr } = await toolcrib(["run", "hi", "-m", "lmstudio", "--base-url", address]);
    expect(stderr).toMatch(says);
    expect(stderr.trimEnd()).not.toMatch(/\n|secret/);
    expect(code).toBe(3);
  });

  test("a named address that is not a model server is reported; exit 3", async () => {
    listing = { hello: "world" };
    const { code, stderr } = await toolcrib(["run", "hi", "-m", "lmstudio", "--base-url", `http://${ollamaHost}`]);
    listing = usual;
    expect(stderr).toMatch(
      `the server at http://${ollamaHost}/ is not a model server (Most servers have their API below /v1); start it`,
    );
    expect(code).toBe(3);
  });

  test("--help of run names every provider", async () => {
    const help = (await toolcrib(["run", "--help"])).stdout.replace(/\s+/g, " ");
    expect(help).toContain(providerNames.join(", ").replace(/, (\S+)$/, " or $1"));
  });

  test("--help tells how to connect a model", async () => {
    expect((await toolcrib(["--help"])).stdout).toMatch(
      /To connect one:\n.*OPENAI_API_KEY.*\n.*Ollama.*\n.*-m provider\/model/,
    );
  });

  test("a wrong key is one sentence that names its variable, not the key; exit 3", async () => {
    const refusal = jsonOf(
      { error: { message: `Incorrect API key provided: ${key}`, code: "invalid_api_key" } },
      { status: 401 },
    );
    wire.script(refusal);
    const end = await toolcrib(["run", "hi"], { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${wire.url}/v1` });
    expect(end.stderr).toMatch(/\ntoolcrib: .*Check OPENAI_API_KEY\.\n$/);
    expect(end.stdout + end.stderr).not.toContain(key);
    expect(end.code).toBe(3);
  });

  test.each([
    ["run", ["hi"]],
    ["run --output-format json", ["hi", "--output-format", "json"]],
    ["chat", []],
  ])("%s shows the reason that the service gave for the end of a turn", async (line, words) => {
    const said = "This request was stopped by the content management policy.";
    wire.script(jsonOf({ error: { message: said, code: "content_filter" } }, { status: 400 }));
    const args = [...line.split(" ").slice(0, 1), ...words, "-m", "openai-compatible/m"];
    const { stdout, stderr } = await command([...args, "--base-url", `${wire.url}/v1`], {
      cwd: folder,
      env: { XDG_STATE_HOME: join(folder, "state") },
      ...(line === "chat" && { input: "hi\n" }),
    });
    expect(stderr).toContain(`ask in another way. The service said: ${said}\n`);
    if (line === "run --output-format json")
      expect(JSON.parse(stdout)).toMatchObject({ reason: "content-filter", detail: said });
  });
});
