import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProgram, temporaryFolder } from "@toolcrib/testing";
import { validate } from "dockerfile-utils";
import { beforeEach, describe, expect, test } from "vitest";
import { bin, command } from "../../fixtures/command.ts";

const dockerfile = readFileSync(new URL("../../container/Dockerfile", import.meta.url), "utf8");

let base: string;
let project: string;
let engines: string;

beforeEach(() => {
  base = temporaryFolder("container");
  project = join(base, "work");
  engines = join(base, "bin");
  for (const folder of [project, engines]) mkdirSync(folder);
});

/** A program that notes its arguments, and what it was given, and answers as an engine would. */
function engine(name: string, { info = "", hasImage = true, run = "exit 0", builds = true } = {}): void {
  const script = `#!/bin/sh
case "$1" in
  info) ${info === "down" ? "echo 'Cannot connect to the Docker daemon' >&2; exit 1" : `echo '${info}'`};;
  image) exit ${hasImage ? 0 : 1};;
  build) printf '%s\\n' "$@" > ${base}/built; exit ${builds ? 0 : 1};;
  run) printf '%s\\0' "$@" > ${base}/args; env > ${base}/env; ${run};;
esac
`;
  writeFileSync(join(engines, name), script);
  chmodSync(join(engines, name), 0o755);
}

function start(
  args: readonly string[],
  { cwd = project, env = {} }: { cwd?: string; env?: object } = {},
): ReturnType<typeof command.start> {
  const all = { PATH: `${engines}:/usr/bin:/bin`, HOME: join(base, "home"), XDG_STATE_HOME: base, ...env };
  return command.start(args, { cwd, env: all });
}

async function run(args: readonly string[], options: Parameters<typeof start>[1] = {}) {
  const end = await start(["--container", ...args], options).ended;
  const written = join(base, "args");
  const given = existsSync(written) ? readFileSync(written, "utf8").split("\0").slice(0, -1) : [];
  return { ...end, given };
}

/** The values of one flag. */
const valuesOf = (args: readonly string[], flag: string): string[] =>
  args.flatMap((arg, index) => (arg === flag ? [args[index + 1] ?? ""] : []));

describe("toolcrib --container", () => {
  test("mounts the project alone, at its own path, for this user, with nothing that it does not need", async () => {
    engine("docker");
    const { given, code } = await run(["--network", "none", "run", "list .", "--json"]);
    expect(code).toBe(0);
    const user = `${process.getuid?.()}:${process.getgid?.()}`;
    expect(given.slice(0, 3)).toEqual(["run", "--rm", "--interactive"]);
    expect(valuesOf(given, "--mount")).toEqual([
      `type=bind,source=${project},target=${project}`,
      `type=volume,source=toolcrib-home-${process.getuid?.()},target=/home/toolcrib`,
    ]);
    expect(valuesOf(given, "--workdir")).toEqual([project]);
    expect(valuesOf(given, "--user")).toEqual([user]);
    expect(valuesOf(given, "--cap-drop")).toEqual(["ALL"]);
    expect(valuesOf(given, "--security-opt")).toContain("no-new-privileges");
    expect(valuesOf(given, "--network")).toEqual(["none"]);
    expect(given.slice(-4)).toEqual([expect.stringMatching(/^toolcrib:\d/), "run", "list .", "--json"]);
    expect(given).not.toContain("--tty");
    expect(given).not.toContain("--privileged");
  });

  test("hands over keys by the names of their variables, and no other variable", async () => {
    engine("docker");
    const env = { OPENAI_API_KEY: "sk-secret", AWS_SECRET: "no", EXTRA: "yes", TOOLCRIB_MODE: "read-only" };
    const { given } = await run(["--env", "EXTRA", "chat"], { env });
    expect(valuesOf(given, "--env").sort()).toEqual(["EXTRA", "OPENAI_API_KEY", "TOOLCRIB_MODE"]);
    expect(given.join(" ")).not.toContain("sk-secret");
    expect(readFileSync(join(base, "env"), "utf8")).toContain("OPENAI_API_KEY=sk-secret");
    const refused = await run(["--env", "EXTRA=sk-other", "chat"]);
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--env EXTRA:") });
    expect(refused.stderr).not.toContain("sk-other");
  });

  test.each(["with space", "a:b", 'quote"s', "com,ma", "$(touch x)`'\\", "-v", "ünï"])(
    "mounts a project called %s",
    async (name) => {
      engine("docker");
      const named = join(base, name);
      mkdirSync(named);
      const { given, code } = await run(["run", "x"], { cwd: named });
      expect(code).toBe(0);
      const [mount = ""] = valuesOf(given, "--mount");
      expect(fieldsOf(mount)).toEqual(["type=bind", `source=${named}`, `target=${named}`]);
      expect(valuesOf(given, "--workdir")).toEqual([named]);
    },
  );

  test("refuses the home folder, what holds it, and what is no directory, unless it is named", async () => {
    engine("docker");
    const home = join(base, "home");
    mkdirSync(home);
    for (const cwd of [home, base, "/"]) {
      const refused = await run(["run", "x"], { cwd });
      expect(refused, cwd).toMatchObject({ code: 2, given: [], stderr: expect.stringContaining("home folder") });
    }
    expect((await run(["--project", home, "run", "x"], { cwd: home })).code).toBe(0);
    expect(await run(["--project", join(base, "none"), "run"])).toMatchObject({ code: 2 });
    mkdirSync(join(base, "new\nline"));
    const odd = await run(["run"], { cwd: join(base, "new\nline") });
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining("control characters") });
  });

  test("gives the user's files to the user, in each kind of engine", async () => {
    const user = `${process.getuid?.()}:${process.getgid?.()}`;
    engine("podman", { info: "true" });
    const podman = await run(["run"], { env: { PATH: `${engines}:/bin` } });
    expect([valuesOf(podman.given, "--userns"), valuesOf(podman.given, "--user")]).toEqual([["keep-id"], [user]]);
    engine("docker", { info: "[name=seccomp,profile=builtin name=rootless]" });
    const rootless = await run(["--engine", "docker", "run"]);
    expect([valuesOf(rootless.given, "--userns"), valuesOf(rootless.given, "--user")]).toEqual([[], ["0:0"]]);
    expect(readFileSync(join(base, "args"), "utf8")).not.toContain("keep-id");
  });

  test("takes the engine that answers, and says what is missing where none does", async () => {
    engine("docker", { info: "down" });
    engine("podman", { run: "exit 7" });
    expect(await run(["run"])).toMatchObject({ code: 7 });
    const refused = await run(["--engine", "docker", "run"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      "toolcrib: --container needs docker or podman: docker does not answer (Cannot connect to the Docker daemon). Start it, or install podman (https://podman.io). Without --container toolcrib runs on this machine itself.\n",
    );
    const none = await run(["run"], { env: { PATH: base } });
    expect(none.stderr).toContain("docker is not installed; podman is not installed");
  });

  test("takes no option of the engine for a name", async () => {
    engine("docker");
    for (const words of [["--image=--privileged"], ["--image", ""], ["--network=--privileged"]])
      expect(await run([...words, "run"])).toMatchObject({ code: 2, given: [] });
  });

  test("starts no engine out of the project, or out of a package's programs", async () => {
    engines = join(project, "node_modules/.bin");
    mkdirSync(engines, { recursive: true });
    engine("docker");
    expect(await run(["run"], { env: { PATH: `${engines}:${base}` } })).toMatchObject({ code: 1, given: [] });
  });

  test("builds the image of its version where it is missing, and says why where it cannot", async () => {
    engine("docker", { hasImage: false });
    expect(await run(["run"])).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("Building") });
    const built = readFileSync(join(base, "built"), "utf8").split("\n");
    expect(built).toContainEqual(expect.stringMatching(/^PACKAGE=@toolcrib\/cli@\d+\.\d+\.\d+/));
    expect(existsSync(join(built.at(-2) ?? "", "Dockerfile"))).toBe(true);
    engine("docker", { hasImage: false, builds: false });
    expect(await run(["run"])).toMatchObject({ code: 1, stderr: expect.stringContaining("could not build") });
    expect(await run(["--image", "mine:1", "run"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(base, "args"), "utf8").split("\0")).toContain("mine:1");
  });

  test("passes signals to the engine and its exit code on", async () => {
    engine("docker", { run: "trap 'exit 42' TERM; echo ready; while :; do sleep 0.1; done" });
    const env = { PATH: `${engines}:/usr/bin:/bin`, HOME: join(base, "home"), XDG_STATE_HOME: base };
    const program = startProgram(bin, ["--container", "chat"], { cwd: project, env });
    await program.printed("ready");
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 42 });
    engine("docker", { run: "kill -9 $$" });
    const killed = start(["--container", "run"]);
    expect((await killed.ended).code).toBe(137);
    // Nothing listens any more.
    expect(killed.signal("SIGTERM")).toBe(false);
  });
});

test("the Dockerfile has no fault that its linter knows, runs as no root and holds no key", () => {
  expect(validate(dockerfile).map(({ message }) => message)).toEqual([]);
  expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  expect(dockerfile).not.toMatch(/(?:KEY|TOKEN|SECRET)/);
  expect(dockerfile).toMatch(/--ignore-scripts/);
});

/** The fields of a line of CSV. */
function fieldsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain = ""]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );
}
