import { isAbsolute, resolve } from "node:path";
import { parseEnv } from "node:util";
import { readGivenFile } from "@toolcrib/kit/files";
import type { ResolvedServer } from "./serverConfig.ts";

/** Variables that choose which code runs: whoever can write the file, an agent's tools perhaps, could run any. */
const choosesCode = new RegExp(
  `^(?:${[
    "PATH|HOME|USERPROFILE|APPDATA|XDG_CONFIG_HOME|SHELL|SHELLOPTS|ENV|BASH_ENV|GCONV_PATH",
    "(?:LD|DYLD|NPM_CONFIG|YARN|PNPM|BUN|DENO|UV|PIP|PIPX)_.*",
    "NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|STARTUP|HOME|USERBASE|BREAKPOINT)|RUBY(?:OPT|LIB)|PERL5?(?:OPT|LIB|DB)",
    "JAVA_TOOL_OPTIONS|(?:_|JDK_)JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|DOCKER_(?:HOST|CONFIG|CONTEXT)",
    "GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*|ASKPASS|EDITOR|PAGER|EXTERNAL_DIFF|PROXY_COMMAND|TEMPLATE_DIR)",
  ].join("|")})$`,
  "i",
);

/**
 * Resolves to the server with the variables of its `envFile`, which is relative to `folder`; its own `env` wins. Rejects with an error that
 * `invalid` makes.
 */
export async function withEnvFile(
  target: ResolvedServer,
  folder: string,
  invalid: (problem: string) => Error,
): Promise<ResolvedServer> {
  if (target.kind !== "command" || target.envFile === undefined) return target;
  const { envFile, ...server } = target;
  const path = isAbsolute(envFile) ? envFile : resolve(folder, envFile);
  const what = `envFile ${JSON.stringify(path)}`;
  const text = await readGivenFile(path, { what, maxMegabytes: 1, toError: invalid });
  if (text === undefined) throw invalid(`${what} does not exist; make the file, or take envFile out`);
  const variables = parseEnv(text);
  const code = Object.keys(variables).find((name) => choosesCode.test(name));
  if (code !== undefined)
    throw invalid(`${what} sets ${code}, which chooses what code runs; set it in env of the entry`);
  return { ...server, env: { ...(variables as Record<string, string>), ...server.env } };
}
