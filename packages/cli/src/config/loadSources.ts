import { messageOf } from "@toolcrib/core/text";
import type { Program } from "../program.ts";
import { askYesNo, terminalAsker } from "../terminal/ask.ts";
import { configSchema } from "../version.ts";
import { projectConfig, userConfig } from "./configFiles.ts";
import { type ProjectFile, readProjectFiles } from "./projectFiles.ts";
import { projectConfigName, type Source } from "./settings.ts";
import { type Settings, settingsFromEnvironment } from "./settingValues.ts";
import { describeChanges, nameProjectFiles, projectTrust, trustedText, untrusted } from "./trust.ts";

/**
 * Loads environment, project and user, in this order. The project's file counts once the user trusts it: asks on a terminal, unless
 * `isAsking` is false. Throws usage errors.
 */
export async function loadSources(
  program: Program,
  isAsking = true,
  directory: string = process.cwd(),
): Promise<Source[]> {
  const { env } = program;
  const file = userConfig(env);
  const [user, config] = [await file.read(), await projectConfig(directory).read()];
  const files = readProjectFiles(directory);
  const name = nameProjectFiles(config !== undefined, files);
  const project = { name, text: trustedText(config?.text, files), values: config?.values ?? {}, files };
  const environment = await settingsFromEnvironment(env, configSchema());
  return [
    { name: "the environment", values: environment },
    ...(name !== ""
      ? [{ name: projectConfigName, values: await trustedValues(project, program, isAsking, directory) }]
      : []),
    ...(user ? [{ name: file.name, values: user.values }] : []),
  ];
}

interface Project {
  readonly name: string;
  /** Binds a yes. */
  readonly text: string;
  readonly values: Settings;
  readonly files: readonly ProjectFile[];
}

/** Reads the files that a project brings along, if the user trusts the project as it is. */
export async function trustedFiles({ env }: Pick<Program, "env">, directory: string): Promise<readonly ProjectFile[]> {
  const files = readProjectFiles(directory);
  if (files.length === 0) return files;
  const text = trustedText(await projectConfig(directory).readText(), files);
  return (await projectTrust(env, directory).of(text)) === "trusted" ? files : [];
}

async function trustedValues(file: Project, program: Program, isAsking: boolean, directory: string): Promise<Settings> {
  const { terminal, env } = program;
  const changes = describeChanges(file.values, file.files);
  if (changes.length === 0) return file.values;
  const store = projectTrust(env, directory);
  const trust = await store.of(file.text);
  if (trust === "trusted") return file.values;
  if (!isAsking) return untrusted(file.values);
  const asker = trust === "refused" ? undefined : terminalAsker(program);
  const state = {
    refused: "you said no to it",
    changed: "it has changed since you were asked",
    new: "it is not trusted yet",
  };
  if (!asker) {
    const rest = "deny" in file.values ? ", except its deny rules" : "";
    terminal.aside(`${file.name} is not used${rest}: ${state[trust]}; toolcrib config trust shows it and uses it`);
    return untrusted(file.values);
  }
  const what = trust === "changed" ? "has changed. It now sets" : "sets";
  const isTrusted = await askYesNo(asker, {
    lines: [`${file.name} of this folder ${what} (! could do harm):`, ...changes],
    question: "Use it here, until it changes?",
    tooLong: [`${file.name} sets too much`, "read it, then run toolcrib config trust"],
  });
  try {
    await store.save(file.text, isTrusted);
  } catch (error) {
    terminal.aside(`The answer could not be saved for the next time: ${messageOf(error)}`);
  }
  return isTrusted ? file.values : untrusted(file.values);
}
