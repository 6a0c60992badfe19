import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { compileCache, countStart } from "./startProgram.ts";

/** Answers a question with the id of an option; undefined stands for `cancelled`. */
export type AcpAsk = (request: RequestPermissionRequest, signal: AbortSignal) => Promise<string | undefined>;

/** A client of the Agent Client Protocol's own library, connected to an agent. */
export interface AcpClient {
  readonly agent: ClientConnection["agent"];
  readonly updates: readonly SessionNotification[];
  readonly questions: readonly RequestPermissionRequest[];
  /** Lines as they came from the agent. */
  readonly lines: readonly string[];
  /** The updates of one kind. */
  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  /** The text of all chunks of one kind. */
  text(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"): string;
}

export function connectAcpClient(
  toAgent: Writable,
  fromAgent: Readable,
  ask: AcpAsk = async () => undefined,
): AcpClient {
  const updates: SessionNotification[] = [];
  const questions: RequestPermissionRequest[] = [];
  const lines: string[] = [];
  let rest = "";
  fromAgent.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  const app = client({ name: "test" })
    .onRequest("session/request_permission", async ({ params, signal }): Promise<RequestPermissionResponse> => {
      questions.push(params);
      const optionId = await ask(params, signal);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    })
    .onNotification("session/update", ({ params }) => void updates.push(params));
  const stream = ndJsonStream(
    Writable.toWeb(toAgent) as WritableStream<Uint8Array>,
    Readable.toWeb(fromAgent) as ReadableStream<Uint8Array>,
  );
  const of: AcpClient["of"] = (kind) =>
    updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update as never] : []));
  return {
    agent: app.connect(stream).agent,
    updates,
    questions,
    lines,
    of,
    text: (kind) =>
      of(kind)
        .map(({ content }) => (content.type === "text" ? content.text : ""))
        .join(""),
  };
}

/** An agent that runs as a program. */
export interface AcpProgram extends AcpClient {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** Starts a Node script as an agent, as an editor does. */
export function startAcpProgram(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ask?: AcpAsk,
): AcpProgram {
  countStart(args[0] ?? "", args.slice(1));
  const environment = { PATH: process.env.PATH, ...compileCache, ...env };
  const child = spawn(process.execPath, args, { cwd, env: environment, stdio: "pipe" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  // An agent that is gone is seen by its end.
  child.stdin.on("error", () => {});
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, stderr }));
  });
  return { ...connectAcpClient(child.stdin, child.stdout, ask), child, ended };
}
