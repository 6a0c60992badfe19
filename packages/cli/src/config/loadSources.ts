import { messageOf } from "@toolcrib/core/text";
import type { Program } from "../program.ts";
import { askYesNo, isTooLong, terminalAsker } from "../terminal/ask.ts";
import type { ConfigContent } from "./configFile.ts";
import { checkRules, denyRulesIn, projectConfig, userConfig } from "./configFile.ts";
import type { ProjectFile } from "./projectFiles.ts";
import type { Settings } from "./settings.ts";
import { projectConfigName, type Source } from "./settings.ts";
import { settingsFromEnvironment } from "./settingValues.ts";
import { type Project, projectAnswer, readProject, trustIn, untrusted } from "./trust.ts";

/**
 * Loads environment, project and user, in this order. The project's file counts once the user trusts it: asks on a terminal, unless
 * `isAsking` is false. Throws usage errors.
 */
export async function loadSources(
  program: Program,
  isAsking = true,
  directory: string = program.cwd,
): Promise<Source[]> {
  const { env, folders, settings, terminal } = program;
  const user = await settings;
  const project = readProject(directory, await readProjectConfig(program, directory));
  if (project.leftOut !== undefined) terminal.aside(project.leftOut);
  const environment = await settingsFromEnvironment(env);
  return [
    { name: "the environment", values: environment },
    ...(project.name !== "" ? [await projectSource(project, program, isAsking, directory)] : []),
    ...(user ? [{ name: userConfig(folders).name, values: user }] : []),
  ];
}

/**
 * Reads the file of a directory. One that is wrong ends no command where the user has never trusted the directory: a line says so, and
 * the rules in it that deny hold as far as they can be read.
 */
async function readProjectConfig(program: Program, directory: string): Promise<ConfigContent | undefined> {
  const file = projectConfig(directory);
  try {
    return await file.read();
  } catch (error) {
    // The file of a directory that the user has trusted is the user's own: a mistake in it is an error.
    if (await trustIn(program, "project", directory).wasTrusted()) throw error;
    program.terminal.aside(`Left out: ${messageOf(error)}`);
    const deny = denyRulesIn((await file.readText().catch(() => undefined)) ?? "");
    return { text: "", values: deny.length > 0 ? { deny } : {} };
  }
}

/** Reads the files that a project brings along, if the user trusts the project as it is. */
export async function trustedFiles(
  { trust }: Pick<Program, "trust">,
  directory: string,
): Promise<readonly ProjectFile[]> {
  try {
    const text = await projectConfig(directory).readText();
    const project = readProject(directory, text === undefined ? undefined : { text, values: {} });
    const isUsed = project.files.length > 0 && (await projectAnswer({ trust, cwd: directory }, project)) === "trusted";
    return isUsed ? project.files : [];
  } catch {
    // What cannot be read was told before, and is not trusted.
    return [];
  }
}

/** The values of a project as far as they hold. Of rules that deny, without trust, those that are none are left out. */
async function projectSource(
  project: Project,
  program: Program,
  isAsking: boolean,
  directory: string,
): Promise<Source> {
  const values = await trustedValues(project, program, isAsking, directory);
  if (await trustIn(program, "project", directory).wasTrusted()) return { name: projectConfigName, values };
  const deny: string[] = [];
  for (const rule of (values.deny as readonly string[] | undefined) ?? []) {
    try {
      await checkRules({ deny: [rule] });
      deny.push(rule);
    } catch (error) {
      program.terminal.aside(`Left out: ${projectConfigName}: ${messageOf(error)}`);
    }
  }
  return { name: projectConfigName, values: deny.length > 0 ? { deny } : {}, isTrusted: false };
}

async function trustedValues(file: Project, program: Program, isAsking: boolean, directory: string): Promise<Settings> {
  const { terminal, trust: store } = program;
  const { changes, text } = file;
  if (changes.length === 0) return file.values;
  const trust = await projectAnswer({ trust: store, cwd: directory }, file);
  if (trust === "trusted") return file.values;
  if (!isAsking) return untrusted(file.values);
  const asker = trust === "refused" ? undefined : terminalAsker(program);
  const shows = "toolcrib config trust shows it and uses it";
  const state = {
    refused: `you said no to it; ${shows}`,
    changed: `it has changed since you were asked; ${shows}`,
    new: `it is not trusted yet; ${shows}`,
    unbound: "some of its hooks cannot be read; correct or remove them",
  };
  if (!asker || text === undefined) {
    const rest = "deny" in file.values ? ", except its deny rules" : "";
    terminal.aside(`${file.name} is not used${rest}: ${state[trust]}`);
    return untrusted(file.values);
  }
  const what = trust === "changed" ? "has changed. It now sets" : "sets";
  const lines = [`${file.name} of this folder ${what} (! could do harm):`, ...changes];
  if (isTooLong(asker, lines)) {
    terminal.aside(
      `${file.name} is not used: it sets too much to show on this screen; read it, then run toolcrib config trust`,
    );
    return untrusted(file.values);
  }
  const isTrusted = await askYesNo(asker, { lines, question: "Use it here, until it changes?" });
  try {
    await trustIn(program, "project", directory).save(text, isTrusted);
  } catch (error) {
    terminal.aside(`The answer could not be saved for the next time: ${messageOf(error)}`);
  }
  return isTrusted ? file.values : untrusted(file.values);
}
