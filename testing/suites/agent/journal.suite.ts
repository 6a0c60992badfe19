import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Message, ProviderEvent } from "@toolcrib/agent";
import { assertConversation } from "@toolcrib/agent/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";

const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 25);
const roundsPerSession = 20;
const random = createRandom(suiteSeed);
const child = fileURLToPath(new URL("journalChild.ts", import.meta.url));

let folder: string;
let server: Server;
let url: string;
/** The messages that the model saw last, and the problems found in them. */
let last: Message[] = [];
const problems: string[] = [];
let requests = 0;
let lives = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "journal-"));
  server = createServer(async (request, response) => {
    let body = "";
    try {
      for await (const chunk of request) body += chunk;
    } catch {
      // Its life ended while it sent this.
      return;
    }
    // A request of a life that has ended may arrive late, even in the next session.
    if (request.url === `/${lives}`) response.end(JSON.stringify(replyTo(JSON.parse(body) as Message[])));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The model: checks each conversation, then calls tools or answers. */
function replyTo(messages: Message[]): ProviderEvent {
  requests += 1;
  try {
    assertConversation(messages);
  } catch (error) {
    problems.push(String(error));
  }
  // All that was sent had been written first, so nothing of it may be missing or changed later.
  const same = last.every((message, index) => JSON.stringify(message) === JSON.stringify(messages[index]));
  if (!same) problems.push(`a message of request ${requests - 1} is missing or changed in request ${requests}`);
  last = messages;
  const message = (content: object[]): ProviderEvent =>
    ({ type: "reply", stop: "stop", message: { role: "assistant", content } }) as ProviderEvent;
  if (requests % 4 === 0) return message([{ type: "text", text: `answer ${requests}` }]);
  const names = ["look", "look", "change"].slice(requests % 3);
  return message(names.map((name, index) => ({ type: "tool-call", id: `r${requests}_${index}`, name, args: {} })));
}

async function live(journal: string, effects: string): Promise<Map<string, string>> {
  const args = [child, `${url}/${lives}`, journal, effects];
  const life: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  life.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  life.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  const closed = once(life, "close");
  const before = requests;
  while (requests === before && life.exitCode === null) await sleep(2);
  await sleep(random(150));
  life.kill("SIGKILL");
  lives += 1;
  await closed;
  if (stderr !== "") problems.push(stderr);
  const lines = stdout.split("\n").slice(0, -1);
  return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
}

test(`killed at ${rounds} random moments, a session loses nothing finished and runs nothing twice`, {
  timeout: 0,
}, async () => {
  let told = new Map<string, string>();
  for (let round = 0; round < rounds; round += 1) {
    if (round % roundsPerSession === 0) {
      last = [];
      told = new Map();
    }
    const session = Math.floor(round / roundsPerSession);
    const effects = join(folder, `${session}.txt`);
    for (const [id, output] of await live(join(folder, `${session}.jsonl`), effects)) told.set(id, output);

    expect(problems).toEqual([]);
    const ran = existsSync(effects) ? readFileSync(effects, "utf8").split("\n").slice(0, -1) : [];
    expect(new Set(ran).size).toBe(ran.length);
    for (const message of last) {
      if (message.role !== "tool") continue;
      // A result in an event must be the one that the model sees, before and after a restart.
      if (told.has(message.callId)) expect(message.output).toBe(told.get(message.callId));
      else if (message.output.includes("Not run")) expect(ran).not.toContain(message.callId);
    }
  }
  console.log(`${rounds} kills, ${requests} requests`);
});
