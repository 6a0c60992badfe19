import { spawn } from "node:child_process";
import { nearestName } from "@toolcrib/core/internal";
import type { ConfigFile } from "../../config/configFile.ts";
import { checkRules, projectConfig, userConfig } from "../../config/configFile.ts";
import { loadSources } from "../../config/loadSources.ts";
import { findSetting, projectConfigName, settings } from "../../config/settings.ts";
import { parseSetting } from "../../config/settingValues.ts";
import { describeSkills, type FoundSkills, findSkills, skillText } from "../../config/skills.ts";
import { type Project, projectAnswer, readProject, trustIn } from "../../config/trust.ts";
import { CliError, type ExitReason, usageError } from "../../exitReasons.ts";
import type { FlagsOf } from "../../flags.ts";
import type { Place, Program } from "../../program.ts";
import { askYesNo, terminalAsker } from "../../terminal/ask.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

const projectFlag = {
  project: { usage: "--project", about: ".toolcrib.json of this directory, not your own file" },
} as const;
const keyArgument = ["<key>", "as config get lists them"] as const;

type PlaceFlags = FlagsOf<typeof projectFlag>;

export const path: DefineCommand = defineCommand({
  flags: projectFlag,
  run(program, flags) {
    program.terminal.data(`${fileOf(flags, program).path}\n`);
    return "ok";
  },
});

export const get: DefineCommand = defineCommand({
  flags: { json: { usage: "--json", about: "with where each value comes from, as JSON" } },
  arguments: [["[key]", "only this one"]],
  async run(program, { json }, [key]): Promise<ExitReason> {
    const { terminal } = program;
    if (key !== undefined) requireKey(key);
    const sources = await loadSources(program);
    const found = Object.fromEntries(
      Object.keys(settings)
        .filter((name) => key === undefined || name === key)
        .flatMap((name) => {
          const setting = findSetting(sources, name);
          return setting ? [[name, setting]] : [];
        }),
    );
    if (json) terminal.data(`${JSON.stringify(found, null, 2)}\n`);
    else {
      for (const [name, { value, from }] of Object.entries(found)) {
        if (key === undefined) terminal.data(`${name}: ${JSON.stringify(value)}  (${from})\n`);
        else terminal.data(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
        if (key !== undefined) terminal.aside(`from ${from}`);
      }
    }
    if (Object.keys(found).length > 0) return "ok";
    terminal.aside(
      key === undefined ? `Nothing is set. The keys: ${Object.keys(settings).join(", ")}.` : `${key} is not set.`,
    );
    return key === undefined ? "ok" : "failed";
  },
});

export const set: DefineCommand = defineCommand({
  flags: projectFlag,
  arguments: [keyArgument, ["<values...>", "its value; several for a list"]],
  async run(program, flags, [key, words]): Promise<ExitReason> {
    requireKey(key);
    const file = fileOf(flags, program);
    const keepTrust = await trustKeeper(flags, program);
    const value = parseSetting(key, words);
    await checkRules({ [key]: value });
    const content = await file.set(key, value);
    if (content) await keepTrust(content.text);
    program.terminal.aside(`${key} is set in ${file.name}.`);
    return "ok";
  },
});

export const unset: DefineCommand = defineCommand({
  flags: projectFlag,
  arguments: [keyArgument],
  async run(program, flags, [key]): Promise<ExitReason> {
    requireKey(key);
    const file = fileOf(flags, program);
    const keepTrust = await trustKeeper(flags, program);
    const content = await file.unset(key);
    if (content) await keepTrust(content.text);
    program.terminal.aside(`${key} is ${content ? "no longer" : "not"} set in ${file.name}.`);
    return "ok";
  },
});

export const edit: DefineCommand = defineCommand({
  flags: projectFlag,
  async run(program, flags): Promise<ExitReason> {
    const { env, cwd, interrupts } = program;
    const place = fileOf(flags, program);
    const { path, create, read } = place;
    const editor = env.VISUAL || env.EDITOR;
    if (!editor) throw usageError(`neither VISUAL nor EDITOR is set; the file is ${path}`);
    const keepTrust = await trustKeeper(flags, program);
    await create();
    // As git does: the variable may hold arguments.
    const isWindows = process.platform === "win32";
    const [file, args] = isWindows ? [`${editor} "${path}"`, []] : ["sh", ["-c", `${editor} "$1"`, editor, path]];
    const editing = new Promise<number | null>((done, fail) => {
      spawn(file, args, { cwd, env, stdio: "inherit", shell: isWindows }).once("error", fail).once("close", done);
    });
    const code = await interrupts.during(() => editing);
    if (code !== 0) throw new CliError("failed", `the editor ended with ${code ?? "a signal"}; look at ${path}`);
    const content = await read();
    if (!content) return "ok";
    await checkRules(content.values, place);
    await keepTrust(content.text);
    return "ok";
  },
});

export const trust: DefineCommand = defineCommand({
  flags: { revoke: { usage: "--revoke", about: "forget what you trusted or refused here" } },
  async run(program, { revoke }): Promise<ExitReason> {
    const { terminal, folders, cwd } = program;
    if (revoke) {
      for (const kind of ["project", "skills"] as const) await trustIn(program, kind, cwd).save();
      terminal.aside(
        `${projectConfigName}, .toolcrib (commands, hooks) and the skills of this directory are not trusted.`,
      );
      return "ok";
    }
    const file = await projectConfig(cwd).read();
    const project = readProject(cwd, file);
    const skills = await findSkills(cwd, folders);
    const hasSkills = skills !== undefined && skills.project.length > 0;
    const hasFiles = project.name !== "" || project.leftOut !== undefined;
    if (!hasFiles && !hasSkills)
      throw usageError(
        `there is no ${projectConfigName}, no skill and nothing of .toolcrib (commands, hooks) in this directory; toolcrib config set KEY VALUE --project creates the file`,
      );
    const ended = hasFiles ? await trustFiles(program, project) : "ok";
    return hasSkills && ended === "ok" ? await trustSkills(program, skills) : ended;
  },
});

function fileOf({ project }: PlaceFlags, { folders, cwd }: Place): ConfigFile {
  return project ? projectConfig(cwd) : userConfig(folders);
}

function requireKey(key: string): void {
  const keys = Object.keys(settings);
  if (keys.includes(key)) return;
  const nearest = nearestName(key, keys);
  throw usageError(
    `config: there is no key ${key}; ${nearest ? `did you mean ${nearest}?` : `the keys are ${keys.join(", ")}`}`,
  );
}

/** Trusts the user's own change, but not what stood there without being trusted. */
async function trustKeeper({ project }: PlaceFlags, place: Program): Promise<(text: string) => Promise<void>> {
  if (!project) return async () => {};
  const read = (text: string | undefined): Project =>
    readProject(place.cwd, text === undefined ? undefined : { text, values: {} });
  const before = read(await projectConfig(place.cwd).readText());
  const isNew = before.name === "" && before.leftOut === undefined;
  if (!isNew && (await projectAnswer(place, before)) !== "trusted") return async () => {};
  return async (changed) => {
    const { text } = read(changed);
    if (text !== undefined) await trustIn(place, "project", place.cwd).save(text);
  };
}

async function trustSkills(program: Program, found: FoundSkills): Promise<ExitReason> {
  const { terminal } = program;
  const asker = terminalAsker(program);
  const title = asker ? "The skills of this directory are" : "Trusted skills of this directory, until they change";
  const lines = [`${title}:`, ...describeSkills(found)];
  if (!asker) terminal.note(lines.join("\n"));
  const isTrusted = !asker || (await askYesNo(asker, { lines, question: "Use them here, until they change?" }));
  await trustIn(program, "skills", found.directory).save(skillText(found), isTrusted);
  return isTrusted ? "ok" : "denied";
}

async function trustFiles(program: Program, { name, values, text, leftOut, changes }: Project): Promise<ExitReason> {
  const { terminal, cwd } = program;
  await checkRules(values, projectConfig(cwd));
  if (text === undefined) throw usageError(`config trust: ${leftOut}`);
  if (leftOut !== undefined) terminal.note(leftOut);
  const asker = terminalAsker(program);
  const title = asker ? `${name} of this directory sets` : "Trusted in this directory, until it changes";
  const lines = [`${title} (! could do harm):`, ...changes];
  if (!asker) terminal.note(lines.join("\n"));
  const isTrusted = !asker || (await askYesNo(asker, { lines, question: "Use it here, until it changes?" }));
  await trustIn(program, "project", cwd).save(text, isTrusted);
  return isTrusted ? "ok" : "denied";
}
