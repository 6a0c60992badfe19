// The file that runs where the files are: the packs behind lines of JSON on standard input and output. It is built into one file
// without dependencies, which `connectTools` sends and starts. It ends with its input, and writes nothing but what tools do.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { type ExecutableTool, isToolError, ToolRegistry, toolFingerprint } from "@toolcrib/core";
import { isPlainObject } from "@toolcrib/core/internal";
import { messageOf, printableName } from "@toolcrib/core/text";
import { createPathScope } from "@toolcrib/kit/files";
import { LineSplitter } from "@toolcrib/kit/text";
import { createBashTools, createLeftovers } from "@toolcrib/tools-bash";
import { createFsTools, proposeChanges } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import {
  type ListedTool,
  maxFrameBytes,
  protocolVersion,
  type RemoteOptions,
  type Reply,
  type Request,
  type SentError,
  silenceMs,
} from "../frames.ts";

type Asked = Extract<Request, { name: string }>;

const leftovers = createLeftovers();
const registry = new ToolRegistry();
/** Those of the file tools. */
let fileOptions: object = {};
const running = new Map<number, AbortController>();
let heard = Date.now();

function send(reply: Reply): void {
  const text = JSON.stringify(reply);
  const isSent = Buffer.byteLength(text) < maxFrameBytes || !("id" in reply);
  const error = { message: "The answer is larger than the limit of 32 MB. Ask for less." };
  process.stdout.write(`${isSent ? text : JSON.stringify({ type: "error", id: reply.id, error })}\n`);
}

function end(): never {
  for (const controller of running.values()) controller.abort();
  process.exit(0);
}

/** Serves requests. `input` is what came with the file, and its rest. */
export function serve(before: Buffer): void {
  // Those of the remote are for commands, not for this program.
  const { TOOLCRIB_NODE_OPTIONS: nodeOptions = "" } = process.env;
  delete process.env.TOOLCRIB_NODE_OPTIONS;
  if (nodeOptions === "") delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = nodeOptions;
  const lines = new LineSplitter(
    maxFrameBytes,
    (line) => {
      heard = Date.now();
      // Some channels end each piece with a line break of their own.
      if (line.trim() !== "") void answer(JSON.parse(line));
    },
    end,
  );
  process.on("exit", () => leftovers.end());
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
  // A greeting before it may have no line break.
  process.stdout.write("\n");
  process.stdin.on("data", (chunk: Buffer) => lines.push(chunk));
  process.stdin.on("end", end);
  process.stdin.on("error", end);
  process.stdout.on("error", end);
  // A connection that broke without an end, as when a machine goes to sleep.
  setInterval(() => {
    if (Date.now() - heard > silenceMs) end();
  }, silenceMs / 4);
  lines.push(before);
  process.stdin.resume();
}

async function answer(request: Request): Promise<void> {
  switch (request.type) {
    case "ping":
      send({ type: "pong" });
      break;
    case "start":
      send(start(request));
      break;
    case "abort":
      running.get(request.id)?.abort();
      break;
    default:
      send(await carryOut(request).catch((thrown) => ({ type: "error", id: request.id, error: sentError(thrown) })));
  }
}

function start({ protocol, options: given }: Extract<Request, { type: "start" }>): Reply {
  if (protocol !== protocolVersion) {
    const problem = `it speaks version ${protocolVersion} of the protocol, and was asked for version ${protocol}`;
    return { type: "failed", problem };
  }
  try {
    const options = inFolders(given);
    const packs = createTools(options);
    registry.register(...packs);
    const { root } = options;
    const { cwd, roots = null } = createPathScope({ cwd: options.cwd, ...(root !== undefined && { root }) });
    return { type: "ready", protocol: protocolVersion, node: process.version, cwd, roots, tools: packs.map(listing) };
  } catch (thrown) {
    return { type: "failed", problem: messageOf(thrown) };
  }
}

/** Throws for a folder that is not there: a typing error would show up as an empty one. */
function inFolders({ cwd, root, ...rest }: RemoteOptions): RemoteOptions {
  const folderOf = (given: string): string => {
    const folder = /^~(?=\/|$)/.test(given) ? homedir() + given.slice(1) : given;
    if (folder !== "" && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`there is no directory ${printableName(given)}`);
    return folder;
  };
  if (cwd !== undefined) process.chdir(folderOf(cwd));
  return {
    ...rest,
    ...(cwd !== undefined && { cwd: process.cwd() }),
    ...(root !== undefined && { root: typeof root === "string" ? folderOf(root) : root.map(folderOf) }),
  };
}

function createTools({ cwd: _, fs, search, bash, ...shared }: RemoteOptions): ExecutableTool[] {
  const own = (options: unknown): object => ({ ...shared, ...(isPlainObject(options) ? options : {}) });
  fileOptions = own(fs);
  return [
    ...createFsTools(fileOptions),
    ...createSearchTools(own(search)),
    ...createBashTools({ ...own(bash), leftovers }),
  ];
}

/** Returns the fingerprints of all tools that a remote can have of the packs. */
export function packFingerprints(): string[] {
  const choices = [{}, { background: true }, { background: true, input: true }];
  return choices.flatMap((bash) => createTools({ bash }).map(toolFingerprint));
}

function listing(tool: ExecutableTool): ListedTool {
  const { readOnly, destructive, idempotent, openWorld, outputSchema, defaults, timeoutMs = 30_000, origin } = tool;
  return {
    schema: tool.getSchema(),
    origin: origin ?? "own",
    timeoutMs: typeof timeoutMs === "function" || timeoutMs === Number.POSITIVE_INFINITY ? "own" : timeoutMs,
    hasEffects: tool.effects !== undefined,
    ...{ readOnly, destructive, idempotent, openWorld, outputSchema, defaults },
  };
}

async function carryOut({ type, id, name, args, callId }: Asked): Promise<Reply> {
  if (type === "effects-of")
    return { type: "effects", id, effects: (await registry.get(name)?.effects?.({ ...args })) ?? [] };
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (type === "changes-of")
      return { type: "changes", id, changes: await proposeChanges(name, args, fileOptions, controller.signal) };
    const isOwnLimit = typeof registry.get(name)?.timeoutMs === "function";
    const outcome = await registry.invoke(name, args, {
      signal: controller.signal,
      callId,
      onProgress: (progress) => send({ type: "progress", id, progress }),
      // The registry that asks has the limit, but for those that a tool decides.
      ...(isOwnLimit ? {} : { timeoutMs: Number.POSITIVE_INFINITY }),
    });
    if (!outcome.ok) return { type: "error", id, error: sentError(outcome.error) };
    const { output, content, data } = outcome;
    return { type: "result", id, output, content, data };
  } finally {
    running.delete(id);
  }
}

function sentError(thrown: unknown): SentError {
  if (!isToolError(thrown)) return { message: messageOf(thrown) };
  const { code, message, recoverable, details } = thrown;
  const { cause: _, ...plain } = { cause: undefined, ...details };
  return { code, message, recoverable, details: plain };
}
