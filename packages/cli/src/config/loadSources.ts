import { messageOf } from "@toolcrib/core/text";
import type { Program } from "../program.ts";
import { askYesNo, isTooLong, terminalAsker } from "../terminal/ask.ts";
import { configSchema } from "../version.ts";
import type { ConfigContent } from "./configFile.ts";
import { checkRules, projectConfig, userConfig } from "./configFiles.ts";
import { denyRulesIn } from "./configText.ts";
import { describeLeftOut, type ProjectFile, readProjectFiles } from "./projectFiles.ts";
import { projectConfigName, type Source } from "./settings.ts";
import { type Settings, settingsFromEnvironment } from "./settingValues.ts";
import { describeChanges, nameProjectFiles, projectAnswer, projectTrust, trustedText, untrusted } from "./trust.ts";

/**
 * Loads environment, project and user, in this order. The project's file counts once the user trusts it: asks on a terminal, unless
 * `isAsking` is false. Throws usage errors.
 */
export async function loadSources(
  program: Program,
  isAsking = true,
  directory: string = program.cwd,
): Promise<Source[]> {
  const { env } = program;
  const file = userConfig(env);
  const user = await file.read();
  const files = readProjectFiles(directory);
  const config = await readProjectConfig(program, directory);
  const leftOut = describeLeftOut(files.leftOut);
  if (leftOut !== undefined) program.terminal.aside(leftOut);
  const name = nameProjectFiles(config !== undefined, files);
  const project = { name, text: trustedText(config?.text, files), values: config?.values ?? {}, files: files.files };
  const environment = await settingsFromEnvironment(env, configSchema());
  return [
    { name: "the environment", values: environment },
    ...(name !== "" ? [await projectSource(project, program, isAsking, directory)] : []),
    ...(user ? [{ name: file.name, values: user.values }] : []),
  ];
}

/** Returns whether the user has trusted a directory before: its file is the user's own then, and a mistake in it an error. */
async function wasTrusted({ env }: Pick<Program, "env">, directory: string): Promise<boolean> {
  try {
    return await projectTrust({ env, cwd: directory }).wasTrusted();
  } catch {
    // Nothing can be kept, so nothing was.
    return false;
  }
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
    if (await wasTrusted(program, directory)) throw error;
    program.terminal.aside(`Left out: ${messageOf(error)}`);
    const deny = denyRulesIn((await file.readText().catch(() => undefined)) ?? "");
    return { text: "", values: deny.length > 0 ? { deny } : {} };
  }
}

interface Project {
  readonly name: string;
  /** Binds a yes; undefined if none can be given. */
  readonly text: string | undefined;
  readonly values: Settings;
  readonly files: readonly ProjectFile[];
}

/** Reads the files that a project brings along, if the user trusts the project as it is. */
export async function trustedFiles({ env }: Pick<Program, "env">, directory: string): Promise<readonly ProjectFile[]> {
  const found = readProjectFiles(directory);
  if (found.files.length === 0) return [];
  try {
    const text = trustedText(await projectConfig(directory).readText(), found);
    return (await projectAnswer({ env, cwd: directory }, text)) === "trusted" ? found.files : [];
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
  if (await wasTrusted(program, directory)) return { name: projectConfigName, values };
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
  const { terminal, env } = program;
  const changes = describeChanges(file.values, file.files);
  if (changes.length === 0) return file.values;
  const { text } = file;
  const place = { env, cwd: directory };
  const trust = await projectAnswer(place, text);
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
    await projectTrust(place).save(text, isTrusted);
  } catch (error) {
    terminal.aside(`The answer could not be saved for the next time: ${messageOf(error)}`);
  }
  return isTrusted ? file.values : untrusted(file.values);
}
