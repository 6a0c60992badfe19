import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import { Agent, createAskUserTool } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { createPolicy, memoryStore, type Policy } from "@toolcrib/policy";
import { type AcpAsk, type AcpClient, connectAcpClient } from "@toolcrib/testing";
import { type AcpServing, type AcpSession, serveAcp } from "../src/index.ts";

/** A client that is connected to `serveAcp` by two pipes. */
export interface Connected extends AcpClient {
  readonly serving: AcpServing;
  /** Writes a raw line to the agent. */
  write(line: string): void;
  /** Closes the agent's input, as a client that ends. */
  leave(): void;
}

export async function connect(
  options: Parameters<typeof serveAcp>[0],
  ask?: AcpAsk,
  clientCapabilities: ClientCapabilities = {},
): Promise<Connected> {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const serving = serveAcp({ ...options, input: toAgent, output: fromAgent });
  // As of a program that ends.
  void serving.closed.then(() => fromAgent.end());
  const connected = connectAcpClient(toAgent, fromAgent, ask);
  await connected.agent.request("initialize", { protocolVersion: 1, clientCapabilities });
  return {
    ...connected,
    serving,
    write: (line) => void toAgent.write(`${line}\n`),
    leave: () => void toAgent.end(),
  };
}

/** A session of an agent whose model follows a script, with tools on the files of `folder`. */
export interface Scenario {
  readonly session: AcpSession;
  readonly provider: ScriptedProvider;
  readonly policy: Policy;
  /** Settles when `hold` runs; its signal has fired once `released` settles. */
  readonly held: Promise<void>;
  readonly released: Promise<void>;
  readonly closed: Promise<void>;
}

export function createScenario(folder: string, replies: readonly ScriptedReply[], id = "one"): Scenario {
  const provider = new ScriptedProvider(replies);
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const policy = createPolicy({ roots: [folder], remembered: memoryStore() });
  const tools = new ToolRegistry(createTools(folder, held.resolve, released.resolve)).guard(policy.guard);
  const agent = new Agent(provider, { tools });
  const session: AcpSession = {
    id,
    agent,
    policy,
    contextWindow: 1000,
    async changes({ name, args }) {
      if (name !== "write_note") return undefined;
      const path = join(folder, String(args.path));
      return [{ path, before: read(path), after: String(args.content) }];
    },
    close: () => closed.resolve(),
  };
  return { session, provider, policy, held: held.promise, released: released.promise, closed: closed.promise };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function createTools(folder: string, onHold: () => void, onRelease: () => void) {
  const text = { type: "string" } as const;
  const object = <Properties extends Record<string, { readonly type: "string" }>>(properties: Properties) =>
    ({ type: "object", properties, additionalProperties: false }) as const;
  return [
    defineTool({
      name: "read_note",
      description: "Reads a note.",
      parameters: object({ path: text }),
      readOnly: true,
      effects: ({ path = "" }) => [{ kind: "read", path: join(folder, path) }],
      execute: async ({ path = "" }) => readFileSync(join(folder, path), "utf8"),
    }),
    defineTool({
      name: "write_note",
      description: "Writes a note.",
      parameters: object({ path: text, content: text }),
      effects: ({ path = "" }) => [{ kind: "write", path: join(folder, path) }],
      execute: async ({ path = "", content = "" }) => {
        writeFileSync(join(folder, path), content);
        return "written";
      },
    }),
    createAskUserTool(),
    defineTool({
      name: "hold",
      description: "Waits until its call is ended.",
      parameters: object({}),
      readOnly: true,
      effects: () => [],
      execute: (_args, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          onHold();
          signal?.addEventListener("abort", () => {
            onRelease();
            reject(new Error("ended"));
          });
        }),
    }),
  ];
}
