import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spread } from "../pairs.mjs";
import { installPeer } from "../peers.mjs";

const own = fileURLToPath(new URL("../../packages/cli/dist/bin.js", import.meta.url));
const provider = `{name="bench",base_url="URL",wire_api="responses",env_key="OPENAI_API_KEY",request_max_retries=0,stream_max_retries=0}`;

/** The words of each program for one task in an empty folder; `URL` stands for the address of the service. */
const programs = {
  toolcrib: () => [own, "run", "hi", "-m", "openai/m", "--base-url", "URL"],
  "codex exec": () => [
    join(installPeer("codex"), "node_modules/@openai/codex/bin/codex.js"),
    ...["exec", "--skip-git-repo-check", "-m", "m", "-c", "model_provider=bench"],
    ...["-c", `model_providers.bench=${provider}`, "hi"],
  ],
  "pi -p": () => [
    join(installPeer("pi"), "node_modules/@earendil-works/pi-coding-agent/dist/cli.js"),
    ...["-p", "hi", "--provider", "bench", "--model", "m"],
  ],
};

/** From the start of a program to the first byte of its request at a service on loopback, and the memory that its processes have had by then. */
export async function firstRequest(report, { rounds }) {
  const home = mkdtempSync(join(tmpdir(), "toolcrib-first-"));
  let arrived = () => {};
  const server = createServer((request, response) => {
    arrived();
    request.resume().on("end", () => {
      const error = { message: "The bench ends here.", type: "invalid_request_error" };
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  mkdirSync(join(home, ".pi/agent"), { recursive: true });
  const models = [{ id: "m" }];
  const forPi = { providers: { bench: { baseUrl: url, apiKey: "none", api: "openai-completions", models } } };
  writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify(forPi));
  mkdirSync(join(home, ".codex"));
  const start = (words) => run(words, { home, url, onArrival: (listener) => (arrived = listener) });
  try {
    for (const [peer, goal, memoryGoal] of [
      ["codex exec", 0.8, 0.6],
      ["pi -p", 0.28, 0.55],
    ]) {
      const row = `toolcrib run, start to its first request, to ${peer}`;
      try {
        const words = [programs.toolcrib(), programs[peer]()];
        // The first starts keep compiled code and files of their own.
        for (const each of words) await start(each);
        const ratios = { ms: [], megabytes: [] };
        for (let round = 0; round < rounds * 2; round += 1) {
          const [ours, theirs] = [await start(words[0]), await start(words[1])];
          for (const what of Object.keys(ratios)) ratios[what].push(ours[what] / theirs[what]);
        }
        report({ name: row, goal, ratio: spread(ratios.ms) });
        report({ name: `${row}, peak memory`, goal: memoryGoal, ratio: spread(ratios.megabytes) });
      } catch (error) {
        report({ name: row, missing: error.message.split("\n")[0] });
      }
    }
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Resolves to the milliseconds and megabytes of a start once the request is there, and the process gone. */
function run(words, { home, url, onArrival }) {
  const env = {
    ...process.env,
    HOME: home,
    CODEX_HOME: join(home, ".codex"),
    XDG_CONFIG_HOME: home,
    XDG_STATE_HOME: home,
    XDG_CACHE_HOME: home,
    OPENAI_API_KEY: "none",
  };
  const args = words.map((word) => word.replace("URL", url));
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["ignore", "ignore", "ignore"] });
    let found;
    onArrival(() => {
      found ??= { ms: performance.now() - started, megabytes: peakOf(child.pid) / 1024 };
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(limit);
      if (found) resolve(found);
      else reject(new Error(`${words[0]} sent no request`));
    });
  });
}

/** Kilobytes: the most that a process and those below it have held so far. */
function peakOf(pid) {
  const own = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children.split(" ").reduce((sum, child) => sum + (child === "" ? 0 : peakOf(child)), own);
}
