import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { createPathScope, ensureDirectory, withFileLock, writeAtomically } from "@toolcrib/core/files";
import {
  type ConfigPlace,
  parseConfig,
  projectConfig,
  readConfigFile,
  readConfigText,
  userConfig,
} from "../../config/configFile.ts";
import { withValue } from "../../config/editText.ts";
import { loadSources } from "../../config/loadSources.ts";
import { projectConfigName } from "../../config/projectConfigName.ts";
import { findSetting, settings } from "../../config/settings.ts";
import { describeChanges, trustStore } from "../../config/trust.ts";
import { parseValue, requireKey } from "../../config/values.ts";
import { CliError, type ExitReason, usageError } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import type { DefineCommand } from "../defineCommand.ts";

interface PlaceFlags {
  readonly project?: boolean;
}

const projectFlag = ["--project", `${projectConfigName} of this directory, not your own file`] as const;

export const definePath: DefineCommand = (command, action) =>
  command.option(...projectFlag).action(
    action(({ terminal, env }, flags: PlaceFlags) => {
      terminal.data(`${placeOf(flags, env).path}\n`);
      return "ok";
    }),
  );

export const defineGet: DefineCommand = (command, action) =>
  command
    .argument("[key]", "only this one")
    .option("--json", "with where each value comes from, as JSON")
    .action(action(configGet));

export const defineSet: DefineCommand = (command, action) =>
  command
    .argument("<key>", "as config get lists them")
    .argument("<values...>", "its value; several for a list")
    .option(...projectFlag)
    .action(action(configSet));

export const defineEdit: DefineCommand = (command, action) => command.option(...projectFlag).action(action(configEdit));

export const defineTrust: DefineCommand = (command, action) =>
  command.option("--revoke", "forget that it was trusted, or refused").action(action(configTrust));

function placeOf({ project }: PlaceFlags, env: NodeJS.ProcessEnv): ConfigPlace {
  return project ? projectConfig(process.cwd()) : userConfig(env);
}

/** Data on stdout: the value of one key, or a line for each that is set. */
async function configGet(
  program: Program,
  key: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<ExitReason> {
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
      if (key !== undefined) terminal.note(terminal.style.dim(`from ${from}`));
    }
  }
  if (Object.keys(found).length > 0) return "ok";
  terminal.note(
    terminal.style.dim(
      key === undefined ? `Nothing is set. The keys: ${Object.keys(settings).join(", ")}.` : `${key} is not set.`,
    ),
  );
  return key === undefined ? "ok" : "failed";
}

async function configSet(
  { env, terminal }: Program,
  key: string,
  words: readonly string[],
  flags: PlaceFlags,
): Promise<ExitReason> {
  requireKey(key);
  const place = placeOf(flags, env);
  const value = parseValue(key, words);
  await change(place, env, async (text) => {
    // A file that is wrong already is not made right by this.
    if (text !== undefined) await parseConfig(text, place);
    return withValue(text, key.split("."), value);
  });
  terminal.note(terminal.style.dim(`${key} is set in ${place.name}.`));
  return "ok";
}

/** What the user changes by this command, the user trusts; not what stood there without being trusted. */
async function change(
  place: ConfigPlace,
  env: NodeJS.ProcessEnv,
  to: (text: string | undefined) => Promise<string>,
): Promise<void> {
  const folder = dirname(place.path);
  ensureDirectory(folder, 0o700);
  await withFileLock(`${place.path}.lock`, async () => {
    const before = await readConfigText(place);
    const isOwn = place.isProject && (await mayTrust(before, env));
    const text = await to(before);
    await parseConfig(text, place);
    // The user's own file may be a link into a folder of such files; that of a project may not lead elsewhere.
    const scope = createPathScope(place.isProject ? { root: folder, cwd: folder } : {});
    await writeAtomically(await scope.resolve(place.path), text, { scope });
    if (isOwn) await trustStore(process.cwd(), env).save(text, true);
  });
}

async function mayTrust(before: string | undefined, env: NodeJS.ProcessEnv): Promise<boolean> {
  return before === undefined || (await trustStore(process.cwd(), env).of(before)) === "trusted";
}

async function configEdit(program: Program, flags: PlaceFlags): Promise<ExitReason> {
  const { env, interrupts } = program;
  const place = placeOf(flags, env);
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw usageError(`neither VISUAL nor EDITOR is set; the file is ${place.path}`);
  const before = await readConfigText(place);
  const isOwn = place.isProject && (await mayTrust(before, env));
  if (before === undefined) await change(place, env, async () => "{\n}\n");
  const code = await interrupts.during(
    () =>
      new Promise<number | null>((done, fail) => {
        // As git does: the variable may hold arguments.
        const isWindows = process.platform === "win32";
        const [file, args] = isWindows
          ? [`${editor} "${place.path}"`, []]
          : ["sh", ["-c", `${editor} "$1"`, editor, place.path]];
        spawn(file, args, { stdio: "inherit", shell: isWindows }).once("error", fail).once("close", done);
      }),
  );
  if (code !== 0)
    throw new CliError("failed", `the editor ended with ${code ?? "a signal"}; ${place.path} may have been changed`);
  const file = await readConfigFile(place);
  if (isOwn && file) await trustStore(process.cwd(), env).save(file.text, true);
  return "ok";
}

async function configTrust({ terminal, env }: Program, { revoke }: { readonly revoke?: boolean }): Promise<ExitReason> {
  const store = trustStore(process.cwd(), env);
  if (revoke) {
    await store.save("", undefined);
    terminal.note(terminal.style.dim(`${projectConfigName} of this directory is not trusted.`));
    return "ok";
  }
  const file = await readConfigFile(projectConfig(process.cwd()));
  if (!file)
    throw usageError(
      `there is no ${projectConfigName} in this directory; toolcrib config set KEY VALUE --project begins one`,
    );
  await store.save(file.text, true);
  const changes = describeChanges(file.values);
  terminal.note(["Trusted in this directory, until it changes (! could do harm):", ...changes].join("\n"));
  return "ok";
}
