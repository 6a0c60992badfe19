import type { ToolRegistry } from "@toolcrib/core";
import { type HttpOptions, httpOptionProblem, serveMcp } from "@toolcrib/mcp";
import { type ExitReason, usageError } from "../../exitReasons.ts";
import type { FlagsOf } from "../../flags.ts";
import { permissionFlags, sandboxFlags, toolFlags } from "../../sharedFlags.ts";
import { createPermissions } from "../../tools/permissions.ts";
import { withPrograms } from "../../tools/programs.ts";
import { connectRemote } from "../../tools/remote.ts";
import { chooseSandbox } from "../../tools/sandbox.ts";
import { createToolSet, rootsOf } from "../../tools/toolSet.ts";
import { version } from "../../version.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

const flags = {
  ...toolFlags,
  ...sandboxFlags,
  ...permissionFlags,
  readOnly: { usage: "--read-only", about: "offer only tools that change nothing" },
  http: {
    usage: "--http <port>",
    about: "over HTTP at /mcp instead, for clients with the bearer token (0: a free port)",
  },
  host: { usage: "--host <address>", about: "the address to listen on (default: 127.0.0.1)" },
  noAuth: { usage: "--no-auth", about: "require no token; only on a loopback address" },
} as const;

type McpServeFlags = FlagsOf<typeof flags>;

/** `toolcrib mcp serve`: until the client closes standard input, or Ctrl-C. */
export const serve: DefineCommand = defineCommand({
  flags,
  more: `
Without --root and --on, the tools stay in the roots that the client names, or else in this directory;
over HTTP to this directory, which a client's roots can only restrict.
If a rule or a protected path asks, the client asks its user, if it can.
TOOLCRIB_MCP_TOKEN sets the bearer token of --http; without it, each start creates a new one.`,
  async run(program, given): Promise<ExitReason> {
    const { terminal, interrupts, env, cwd } = program;
    const flags = await chooseSandbox(await connectRemote(await withPrograms(given), program), program);
    const http = httpOptions(flags, env.TOOLCRIB_MCP_TOKEN);
    const tools = (roots: readonly string[] | undefined): ToolRegistry => {
      const toolFlags = { ...flags, root: roots };
      const mode = flags.readOnly ? "read-only" : "full";
      return createToolSet(toolFlags, createPermissions(flags, rootsOf(toolFlags, cwd), program, mode), program);
    };
    // Made now, so that wrong flags are reported here and not to the client.
    const fixed = tools(flags.root);
    const serving = await serveMcp(flags.root || flags.remote ? fixed : (roots) => (roots ? tools(roots) : fixed), {
      name: "toolcrib",
      version: version(),
      http,
      readOnly: flags.readOnly,
      // Over HTTP the roots of a client narrow this directory; a client that has started us may name another.
      ...(http && { roots: [cwd] }),
      onError: (error) => {
        if (env.TOOLCRIB_DEBUG === "1") terminal.note(error.message);
      },
    });
    if (serving.url !== undefined) {
      terminal.note(`Serving ${fixed.getEnabledSchemas().length} tools at ${serving.url}`);
      if (serving.token !== undefined) terminal.note(`Clients send the header Authorization: Bearer ${serving.token}`);
    }
    await interrupts.during((signal) => {
      signal.addEventListener("abort", () => void serving.close(), { once: true });
      return serving.closed;
    });
    return "ok";
  },
});

function httpOptions({ http, host, auth }: McpServeFlags, token: string | undefined): HttpOptions | undefined {
  if (http === undefined) {
    if (auth === false || host !== undefined) throw usageError("--no-auth and --host are for --http; name a port");
    return undefined;
  }
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN;
  const options = { port, host, auth, ...(token && { token }) };
  const { option, expected } = httpOptionProblem(options) ?? {};
  if (option === "port") throw usageError(`--http ${http}: expected a port, ${expected}`);
  if (option === "auth") throw usageError(`--no-auth is ${expected}; leave one of the two out`);
  if (option) throw usageError(`${option === "host" ? "--host" : "TOOLCRIB_MCP_TOKEN"}: expected ${expected}`);
  return options;
}
