import { isObject } from "@toolcrib/core/text";
import { quoted, startCommand } from "./bootstrap.ts";
import type { Channel, ChannelEvents } from "./channel.ts";
import { openProcess } from "./processChannel.ts";
import { isSession, openSession, type Session } from "./sessionChannel.ts";

/**
 * A command that leads to the remote: further words are run there, with the standard input and output of the command. So `docker
 * exec -i web`, `bwrap … --`, `sudo -u builder`; with nothing but `env`, this machine.
 */
export interface CommandAddress {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The words are joined by a shell there, as ssh does it: they are quoted. Default: true for a command that is called `ssh`. */
  readonly throughShell?: boolean | undefined;
  /** Variables of the command here. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The Node.js there that is tried before those that are found. Default: none. */
  readonly node?: string | undefined;
}

/**
 * The place where tools run: a command, or a sandbox session of the AI SDK, E2B or Daytona. As text: `docker:CONTAINER`,
 * `podman:CONTAINER`, `image:IMAGE` (a new container, removed at the end), `ssh:HOST` or `ssh://HOST:PORT`, `kubectl:POD` or
 * `kubectl:NAMESPACE/POD`, and `command:WORDS`, split at spaces. All but the last may end in the folder there, as in `docker:web:/app`,
 * `ssh:build:~/app` and `ssh://build:2222/~/app`: the default of `cwd` and `root`.
 */
export type Address = string | CommandAddress | Session;

/** The connection data of a remote. */
export interface ResolvedAddress {
  readonly name: string;
  /** The folder that the text names. */
  readonly folder?: string | undefined;
  open(on: ChannelEvents): Channel;
}

const forms =
  "docker:NAME, podman:NAME, image:NAME, ssh:HOST, kubectl:POD or kubectl:NAMESPACE/POD, each perhaps with :/FOLDER, or command:WORDS";

/** Throws a TypeError for what is no address. `chosen` is the Node.js there that is tried first. */
export function resolveAddress(address: Address, chosen?: string): ResolvedAddress {
  if (isSession(address)) {
    const command = startCommand(chosen ?? "")
      .map(quoted)
      .join(" ");
    return { name: "session", open: (on) => openSession(address, command, on) };
  }
  const { text = "", folder } = typeof address === "string" ? splitFolder(address) : {};
  const given = typeof address === "string" ? parseAddress(text) : address;
  if (!isObject(given) || typeof given.command !== "string" || given.command === "")
    throw new TypeError(
      `connectTools: the address must be ${forms}, an object with command and args, or a session of a sandbox`,
    );
  const { command, args = [], throughShell = /(?:^|\/)ssh$/.test(command), env = process.env, node = "" } = given;
  if (!Array.isArray(args) || !args.every((word) => typeof word === "string"))
    throw new TypeError("connectTools: args of the address must be an array of strings");
  const boot = startCommand(chosen ?? node);
  const words = throughShell ? [boot.map(quoted).join(" ")] : boot;
  const name = text === "" || text.startsWith("command:") ? nameOf(command, args, given.env) : text;
  return { name, folder, open: (on) => openProcess(command, [...args, ...words], env, on) };
}

/** Names a command; two that lead to two remotes have two names. Their words are not shown: they may hold what nobody else should read. */
function nameOf(command: string, args: readonly string[], env: CommandAddress["env"] = {}): string {
  const own = Object.entries(env).filter(([name, value]) => value !== process.env[name]);
  if (args.length + own.length === 0) return command;
  const { createHash } = process.getBuiltinModule("node:crypto");
  const digest = createHash("sha256").update(JSON.stringify([args, own.sort()]));
  return `${command} ${digest.digest("hex").slice(0, 8)}`;
}

/** Splits off the folder, which follows the first colon behind which a path can begin: an image may have a tag behind one, too. */
function splitFolder(given: string): { readonly text: string; readonly folder?: string | undefined } {
  const isUrl = given.startsWith("ssh://");
  const found = isUrl ? /^(ssh:..[^/]+)(\/.*)$/s.exec(given) : /^((?!command:)\w+:.+?):(~|~?\/.*)$/s.exec(given);
  const [, text = given, folder] = found ?? [];
  // In an address a slash ends the name, before `~` too.
  return { text, folder: isUrl ? folder?.replace(/^\/(?=~(?:\/|$))/, "") : folder };
}

function parseAddress(text: string): CommandAddress {
  const at = text.indexOf(":");
  const [kind, rest] = [text.slice(0, at), text.slice(at + 1)];
  // An option instead of a name would be one of docker's or ssh's own.
  if (at === -1 || rest.trim() === "" || rest.startsWith("-") || rest.includes("\0")) throw unknown(text);
  switch (kind) {
    case "docker":
    case "podman":
      return { command: kind, args: ["exec", "-i", rest] };
    case "image":
      return { command: "docker", args: ["run", "-i", "--rm", "--init", "--entrypoint", "", rest] };
    case "ssh":
      // A question for a password could not be answered.
      return { command: "ssh", args: ["-T", "-o", "BatchMode=yes", "--", rest.startsWith("//") ? text : rest] };
    case "kubectl": {
      const [namespace, pod] = rest.includes("/") ? rest.split("/", 2) : [undefined, rest];
      if (!pod || namespace === "" || pod.startsWith("-")) throw unknown(text);
      return { command: "kubectl", args: ["exec", "-i", ...(namespace ? ["-n", namespace] : []), pod, "--"] };
    }
    case "command": {
      const [command = "", ...args] = rest.trim().split(/\s+/);
      return { command, args };
    }
    default:
      throw unknown(text);
  }
}

function unknown(text: string): TypeError {
  return new TypeError(`connectTools: ${JSON.stringify(text)} names no remote; write ${forms}`);
}
