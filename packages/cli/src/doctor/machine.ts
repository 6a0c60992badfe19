import { lstatSync } from "node:fs";
import { proxyVariable, usesProxies } from "@toolcrib/agent/models";
import { sandboxProblem } from "@toolcrib/tools-bash";
import { wantsColor } from "../terminal/style.ts";
import { version } from "../version.ts";
import type { Check, Finding } from "./check.ts";

/** Checks Node, the terminal, the folder of the user's own decisions. */
export const checkMachine: Check = async ({ env, folders, host: { stdin, stdout, stderr } }) => {
  const { versions, platform } = process;
  const { columns, rows } = stderr;
  const where = stdin.isTTY && stderr.isTTY ? `a terminal of ${columns} by ${rows}` : "no terminal to ask on";
  const color = wantsColor(stdout, env) ? "colours" : "no colours";
  const terminal: Finding = { level: "ok", text: `${where}, TERM ${env.TERM ?? "not set"}, ${color}` };
  const data = {
    toolcrib: version(),
    node: versions.node,
    platform,
    term: env.TERM,
    columns,
    rows,
    isTTY: stdout.isTTY,
  };
  return {
    findings: [
      { level: "ok", text: `toolcrib ${version()}, Node.js ${versions.node}, ${platform}` },
      // A terminal that does not know its size says 0.
      columns > 0 && columns < 20
        ? { level: "warning", text: terminal.text, advice: "make it at least 20 columns wide" }
        : terminal,
      checkState(folders.state),
      ...checkProxies(env),
    ],
    data,
  };
};

/** Tells whether requests go through the proxies that the environment names. */
function checkProxies(env: NodeJS.ProcessEnv): Finding[] {
  const name = proxyVariable(env);
  if (name === undefined) return [];
  if (usesProxies())
    return [{ level: "ok", text: `requests to models and servers use the proxy of ${name}; web_fetch does not` }];
  const advice =
    "name an http:// or https:// address; Node.js before 24.14 needs NODE_USE_ENV_PROXY=1, and 22.21 or later, for that";
  return [{ level: "warning", text: `${name} is set, but it is not used`, advice }];
}

/** Checks that nobody else may write where it is kept what the user has allowed. */
function checkState(folder: string): Finding {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats) return { level: "ok", text: `nothing is stored in ${folder} yet` };
  const isOwn = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o022) === 0);
  if (stats.isDirectory() && isOwn) return { level: "ok", text: `your answers are stored in ${folder}` };
  const why = stats.isDirectory() ? "others can write it" : "it is a link or a file, not a folder";
  return { level: "problem", text: `${folder}: ${why}`, advice: "check its content, then remove it" };
}

export const checkSandbox: Check = async ({ cwd }) => {
  const problem = await sandboxProblem({ root: [cwd], sandbox: {} });
  const advice = "install it; without it, commands run with all your rights, after a question";
  return {
    findings: [
      problem === undefined
        ? { level: "ok", text: "commands can run in a sandbox" }
        : { level: "warning", text: `no sandbox for commands: ${problem}`, advice },
    ],
    data: { works: problem === undefined, problem },
  };
};
