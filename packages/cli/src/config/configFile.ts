import { dirname, join } from "node:path";
import { validateJson } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { createPathScope, ensureDirectory, readGivenFile, withFileLock, writeAtomically } from "@toolcrib/kit/files";
import { byteOrderMark } from "@toolcrib/kit/text";
import { editJson } from "@toolcrib/mcp/config";
import type { PolicyOptions } from "@toolcrib/policy";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { usageError } from "../exitReasons.ts";
import type { Folders } from "../state/folders.ts";
import { configSchema } from "../version.ts";
import { projectConfigName, type Settings, settings } from "./settings.ts";
import { flatSettings } from "./settingValues.ts";

/** The text of a file, and what it says. */
export interface ConfigContent {
  readonly text: string;
  readonly values: Settings;
}

/** A configuration file: JSON with comments, checked by a schema. */
export interface ConfigFile {
  readonly path: string;
  readonly name: string;
  /** Reads the file; undefined if there is none. Rejects if it is not valid, with the line. */
  read(): Promise<ConfigContent | undefined>;
  /** Reads the text, unchecked. */
  readText(): Promise<string | undefined>;
  /** Sets one value, all else stays as it is written: comments, order, indentation. A file that would not be valid is not written. */
  set(key: string, value: unknown): Promise<ConfigContent | undefined>;
  /** Takes one value out, all else stays as it is written. Undefined where it is not set. */
  unset(key: string): Promise<ConfigContent | undefined>;
  create(): Promise<void>;
}

const maxMegabytes = 1;
const emptyText = "{\n}\n";

/** Throws a usage error for a rule that would stop every later command. Not part of each reading: the policy takes 100 ms to load. */
export async function checkRules({ allow, ask, deny }: Settings, file?: ConfigFile): Promise<void> {
  if (!allow && !ask && !deny) return;
  const { createPolicy } = await import("@toolcrib/policy");
  try {
    createPolicy({ allow, ask, deny } as PolicyOptions);
  } catch (error) {
    const problem = messageOf(error).replace(/^createPolicy: /, "");
    const flag = file?.name === projectConfigName ? " --project" : "";
    throw usageError(file ? `${file.name}: ${problem}; correct it with: toolcrib config edit${flag}` : problem);
  }
}

/** Opens the user's own file; nothing is read or made before it is used. */
export function userConfig({ config }: Folders): ConfigFile {
  return configFile(join(config, "config.json"));
}

/** Opens the file of a directory, which somebody else may have written. */
export function projectConfig(directory: string): ConfigFile {
  return configFile(join(directory, projectConfigName), directory);
}

/** `project`: its folder, which a link in place of the file may not lead out of. */
function configFile(path: string, project?: string): ConfigFile {
  const name = project === undefined ? path : projectConfigName;
  const readText = (): Promise<string | undefined> =>
    readGivenFile(path, { what: name, maxMegabytes, toError: usageError });
  const parse = async (text: string): Promise<ConfigContent> => ({
    text,
    values: await parseConfigText(text, name, project !== undefined),
  });
  const write = async (text: string): Promise<void> => {
    const scope = createPathScope(project === undefined ? {} : { root: project, cwd: project });
    await writeAtomically(await scope.resolve(path), text, { scope });
  };
  const locked = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    ensureDirectory(dirname(path), 0o700);
    return withFileLock(`${path}.lock`, use);
  };
  const change = (key: string, value?: unknown): Promise<ConfigContent | undefined> =>
    locked(async () => {
      const before = await readText();
      const values = before === undefined ? {} : (await parse(before)).values;
      if (value === undefined && !Object.hasOwn(values, key)) return undefined;
      const after = await parse(await editJson(before ?? emptyText, key.split("."), value));
      await write(after.text);
      return after;
    });
  return {
    path,
    name,
    readText,
    async read() {
      const text = await readText();
      return text === undefined ? undefined : parse(text);
    },
    set: (key, value) => change(key, value),
    // A folder is made only to write in it.
    unset: async (key) => ((await readText()) === undefined ? undefined : change(key)),
    create: () =>
      locked(async () => {
        if ((await readText()) === undefined) await write(emptyText);
      }),
  };
}

/** Reads the values of a file's text, of a project or the user's own. Rejects with the line of what is wrong. */
export async function parseConfigText(text: string, name: string, isProject: boolean): Promise<Settings> {
  const wrong = (offset: number, problem: string): Error => {
    const line = text.slice(0, offset).split("\n").length;
    return usageError(
      `${name}:${line}: ${problem}; correct it with: toolcrib config edit${isProject ? " --project" : ""}`,
    );
  };
  const root = parseText(text, wrong);
  const value: unknown = getNodeValue(root);
  const [issue] = await validateJson(value, configSchema(), "a key").catch(() => [
    { field: "", reason: "it is too large" },
  ]);
  if (issue) {
    const path = issue.field.split(/[.[\]]+/).filter(Boolean);
    const place = path.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    throw wrong(findNodeAtLocation(root, place)?.offset ?? 0, `${clip(issue.field, 80)} ${issue.reason}`.trimStart());
  }
  const values = flatSettings(value as Record<string, unknown>);
  const own = isProject && Object.keys(values).find((key) => settings[key]?.isUserOnly);
  if (own) throw wrong(0, `${own} belongs only in your own file: toolcrib config set ${own} …`);
  return values;
}

/** Reads the rules that deny out of a text that may be wrong elsewhere, as far as they can be read. */
export function denyRulesIn(text: string): string[] {
  const root = attempt(() => parseTree(text.replace(byteOrderMark, " "), [], { allowTrailingComma: true }));
  const lists = (root?.children ?? []).filter(({ children: [key] = [] }) => key?.value === "deny");
  const rules = lists.flatMap(({ children: [, list] = [] }) => list?.children ?? []);
  return rules.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

function parseText(text: string, wrong: (offset: number, problem: string) => Error): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text.replace(byteOrderMark, " "), errors, { allowTrailingComma: true });
  } catch {
    throw wrong(0, "it is nested too deeply");
  }
  const [error] = errors;
  if (error) {
    const words = printParseErrorCode(error.error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    throw wrong(error.offset, `it is not valid JSON with comments (${words})`);
  }
  if (!root) throw wrong(0, "it is empty; write at least {}");
  refuseTwice(root, wrong);
  return root;
}

/** Refuses a name that stands there twice: a reader could take the one for the other. */
function refuseTwice({ type, children = [] }: Node, wrong: (offset: number, problem: string) => Error): void {
  const names = new Set<string>();
  for (const child of children) {
    const [key, value] = child.children ?? [];
    if (type === "object" && key) {
      if (names.has(String(key.value))) throw wrong(child.offset, `${clip(String(key.value), 80)} stands there twice`);
      names.add(String(key.value));
    }
    if (value) refuseTwice(value, wrong);
  }
}
