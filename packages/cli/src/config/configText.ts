import { validateJson } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { byteOrderMark } from "@toolcrib/kit/text";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { usageError } from "../exitReasons.ts";
import { configSchema } from "../version.ts";
import type { Settings } from "./settings.ts";
import { settings } from "./settings.ts";
import { flatSettings } from "./settingValues.ts";

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
