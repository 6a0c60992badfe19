import { join } from "node:path";
import { type JsonSchema, validateJson } from "@toolcrib/core";
import { readGivenFile } from "@toolcrib/core/files";
import { byteOrderMark, clip } from "@toolcrib/core/text";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { configSchema } from "../configSchema.ts";
import { usageError } from "../exitReasons.ts";
import { configFolder } from "../state/stateBase.ts";
import { projectConfigName } from "./projectConfigName.ts";
import { type Settings, settings } from "./settings.ts";

const maxMegabytes = 1;

/** One of the two files. */
export interface ConfigPlace {
  readonly path: string;
  /** As people are shown it. */
  readonly name: string;
  readonly isProject: boolean;
}

/** What a file says. */
export interface ConfigFile extends ConfigPlace {
  readonly text: string;
  readonly values: Settings;
}

export function userConfig(env: NodeJS.ProcessEnv): ConfigPlace {
  const path = join(configFolder(env), "config.json");
  return { path, name: path, isProject: false };
}

export function projectConfig(directory: string): ConfigPlace {
  return { path: join(directory, projectConfigName), name: projectConfigName, isProject: true };
}

/** The text of a file; undefined where there is none. */
export function readConfigText({ path, name }: ConfigPlace): Promise<string | undefined> {
  return readGivenFile(path, { what: name, maxMegabytes, toError: usageError });
}

/** Reads and checks a file; undefined where there is none. Throws a usage error that names the line. */
export async function readConfigFile(place: ConfigPlace): Promise<ConfigFile | undefined> {
  const text = await readConfigText(place);
  return text === undefined ? undefined : { ...place, text, values: await parseConfig(text, place) };
}

/** The values of a file's text. Throws a usage error that names the line. */
export async function parseConfig(text: string, { name, isProject }: ConfigPlace): Promise<Settings> {
  const wrong = (offset: number, problem: string): Error =>
    usageError(
      `${name}:${text.slice(0, offset).split("\n").length}: ${problem}; correct it with: ${editCommand(isProject)}`,
    );
  const root = parseText(text, wrong);
  const value: unknown = getNodeValue(root);
  const [issue] = await validateJson(value, configSchema() as JsonSchema, "a key");
  if (issue) {
    const path = issue.field.split(/[.[\]]+/).filter(Boolean);
    const place = path.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    throw wrong(findNodeAtLocation(root, place)?.offset ?? 0, `${clip(issue.field, 80)} ${issue.reason}`.trimStart());
  }
  const values = flatten(value as Record<string, unknown>);
  const userOnly = isProject ? Object.keys(values).find((key) => settings[key]?.isUserOnly) : undefined;
  if (userOnly !== undefined)
    throw wrong(0, `${userOnly} is for your own file alone: toolcrib config set ${userOnly} …`);
  return values;
}

function editCommand(isProject: boolean): string {
  return `toolcrib config edit${isProject ? " --project" : ""}`;
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
  if (!root) throw wrong(0, "it is empty; the least is {}");
  // A reader could take the one for the other.
  const names = new Set<string>();
  for (const { children, offset } of root.type === "object" ? (root.children ?? []) : []) {
    const key = String(children?.[0]?.value);
    if (names.has(key)) throw wrong(offset, `${clip(key, 80)} stands there twice`);
    names.add(key);
  }
  return root;
}

/** `{ sessions: { keepDays: 3 } }` as `sessions.keepDays`, without `$schema`. */
function flatten(value: Readonly<Record<string, unknown>>): Settings {
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.entries(inner).map(([name, one]) => [`${key}.${name}`, one])
      : [[key, inner]],
  );
  return Object.fromEntries(entries.filter(([key]) => key !== "$schema"));
}
