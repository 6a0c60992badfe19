import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { oneLine } from "@toolcrib/core/internal";
import { findProgram, isInside } from "@toolcrib/kit/files";
import { CliError, type ExitReason, usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { canonicalPath } from "../state/stateFolder.ts";
import { packageFile, version } from "../version.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

const flags = {
  project: { usage: "--project <dir>", about: "the directory that is mounted, at its own path (default: this one)" },
  network: { usage: "--network <name>", about: "none, host, or a network of the engine (default: the engine's own)" },
  env: {
    usage: "--env <name>",
    about: "pass this variable too, in addition to keys and settings; can be repeated",
    value: "list",
  },
  engine: { usage: "--engine <program>", about: "(default: the first that answers)", value: ["docker", "podman"] },
  image: { usage: "--image <name>", about: "an image with toolcrib (default: built here, once for each version)" },
} as const;

/** `toolcrib --container`: the same command in a container, with only the project mounted. */
export const container: DefineCommand = defineCommand({
  flags,
  arguments: [["[command...]", "what toolcrib does there, with its flags, such as run or chat"]],
  takesAnyFlag: true,
  passThrough: true,
  async run(program, given, [words]): Promise<ExitReason> {
    const { host, terminal, env, folders, cwd } = program;
    for (const flag of ["image", "network"] as const)
      if (/^(?:-|$)/.test(given[flag] ?? "x"))
        throw usageError(`--${flag} takes a name, not ${given[flag] || "nothing"}`);
    const project = projectOf(given.project, cwd, folders.home);
    const engine = findEngine(given.engine, project);
    const image = given.image ?? builtImage(engine, (line) => terminal.aside(line));
    const hasTerminal = host.stdin.isTTY && host.stdout.isTTY;
    const args = [
      ...["run", "--rm", "--interactive", ...(hasTerminal ? ["--tty"] : [])],
      ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
      // The files keep the labels that they have.
      ...(existsSync("/sys/fs/selinux/enforce") ? ["--security-opt", "label=disable"] : []),
      ...userArguments(engine),
      ...["--mount", mountOf("bind", project, project), "--workdir", project],
      ...["--mount", mountOf("volume", `toolcrib-home-${process.getuid?.() ?? 0}`, "/home/toolcrib")],
      ...(given.network === undefined ? [] : ["--network", given.network]),
      // By name alone: what is on a command line can be read by every user of the machine.
      ...handedOver(env, given.env).flatMap((name) => ["--env", name]),
      ...[image, ...words],
    ];
    host.exit(await exitCodeOf(engine.program, args, program));
    return "ok";
  },
});

/** Throws unless it can be mounted; the home folder and what holds it only where they are named. */
function projectOf(named: string | undefined, cwd: string, home: string): string {
  const given = named ?? cwd;
  const place = resolve(cwd, given);
  if (given === "" || !statSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`--project ${oneLine(given, 200)}: there is no such directory`);
  const project = realpathSync.native(place);
  if (/[\0-\x1f\x7f]/.test(project)) throw usageError("the name of the project contains control characters; rename it");
  if (named === undefined && isInside(project, canonicalPath(home)))
    throw usageError(`${project} contains your home folder; change to a project, or name it with --project ${project}`);
  return project;
}

interface Engine {
  readonly program: string;
  readonly name: "docker" | "podman";
  /** True if root inside of it is the user outside. */
  readonly isRootless: boolean;
}

/** Finds the first that answers. Never a program that lies in the project. */
function findEngine(wanted: Engine["name"] | undefined, project: string): Engine {
  const problems: string[] = [];
  for (const name of wanted ? [wanted] : (["docker", "podman"] as const)) {
    const program = findProgram(name, [project]);
    if (program === undefined) problems.push(`${name} is not installed`);
    else {
      const format = name === "docker" ? "{{.SecurityOptions}}" : "{{.Host.Security.Rootless}}";
      const { status, stdout, stderr } = spawnSync(program, ["info", "--format", format], { encoding: "utf8" });
      if (status === 0) return { program, name, isRootless: /rootless|true/.test(stdout) };
      problems.push(`${name} does not answer (${oneLine(stderr.trim().split("\n").at(-1) ?? "", 160)})`);
    }
  }
  const advice =
    "Start it, or install podman (https://podman.io). Without --container toolcrib runs on this machine itself.";
  throw new CliError("failed", `--container needs docker or podman: ${problems.join("; ")}. ${advice}`);
}

/** Makes files in the project belong to the user. */
function userArguments({ name, isRootless }: Engine): string[] {
  const user = `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`;
  if (isRootless) return name === "podman" ? ["--userns", "keep-id", "--user", user] : ["--user", "0:0"];
  return ["--user", user];
}

/** Engines read it as CSV: a field with a comma or a quote is quoted. */
function mountOf(type: string, source: string, target: string): string {
  const fields = [`type=${type}`, `source=${source}`, `target=${target}`];
  return fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
}

const handed =
  /^(?:(?:OPENAI|ANTHROPIC|OPENROUTER)_(?:API_KEY|BASE_URL)|OLLAMA_HOST|TOOLCRIB_\w+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|LANG)$/;

function handedOver(env: NodeJS.ProcessEnv, more: readonly string[] = []): string[] {
  const wrong = more.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined)
    throw usageError(
      `--env ${oneLine(wrong.split("=", 1)[0] ?? "", 80)}: give the name of a variable, without its value`,
    );
  return [...new Set([...Object.keys(env).filter((name) => env[name] && handed.test(name)), ...more])];
}

function builtImage({ program, name }: Engine, note: (line: string) => void): string {
  const image = `toolcrib:${version()}`;
  if (spawnSync(program, ["image", "inspect", image], { stdio: "ignore" }).status === 0) return image;
  note(`Building the image ${image} with ${name}, once for this version …`);
  const context = fileURLToPath(packageFile("container/"));
  const args = ["build", "--tag", image, "--build-arg", `PACKAGE=@toolcrib/cli@${version()}`, context];
  if (spawnSync(program, args, { stdio: ["ignore", 2, 2] }).status === 0) return image;
  throw new CliError("failed", `${name} could not build ${image}: see above; --image NAME uses another one`);
}

/** Runs the engine; signals go to it, and it passes them on to the command. */
function exitCodeOf(engine: string, args: readonly string[], { host, interrupts }: Program): Promise<number> {
  let child: ChildProcess;
  // A terminal sends Ctrl-C to the engine, too: passed on, it would count twice.
  const isOnTerminal = [host.stdin, host.stdout, host.stderr].some(({ isTTY }) => isTTY);
  interrupts.close();
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const pass = (): void => {
      if (signal !== "SIGINT" || !isOnTerminal) child.kill(signal);
    };
    return [signal, pass] as const;
  });
  for (const [signal, pass] of listeners) host.on(signal, pass);
  // A signal that came between the start and the handlers would be lost.
  child = spawn(engine, args, { stdio: "inherit" });
  return new Promise<number>((done, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  }).finally(() => {
    for (const [signal, pass] of listeners) host.off(signal, pass);
  });
}
