// Finds the skills below folders, in their order, and says what was left out.
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isPlainObject } from "@toolcrib/core/internal";
import { isObject, limitBytes, messageOf, printableName, showInvisible } from "@toolcrib/core/text";
import { createPathScope, isInside, openRegularFile } from "@toolcrib/kit/files";
import { isBinary } from "@toolcrib/kit/text";
import { parseDocument } from "yaml";

/** Most bytes of a skill's text that `read_skill` answers; a longer one is cut with a notice. */
export const maxSkillBytes: number = 50 * 1024;
/** Most bytes of a SKILL.md; a longer file is left out. */
const maxFileBytes = 2 ** 20;
/** Most SKILL.md files of all folders together. */
const maxSkills = 1000;
/** Most marks of YAML in one frontmatter, and in all together: the parser takes up to 0.1 ms for each. */
const [maxMarks, maxMarksOfAll] = [1000, 20_000];
/** Longest name and description of the specification (https://agentskills.io/specification). */
const [longestName, longestDescription] = [64, 1024];

/** A folder of skills. */
export interface SkillFolder {
  /** Its path; a folder that does not exist holds no skills. */
  path: string;
  /** A folder that no skill may lie outside of once links are followed: the project that it belongs to. Default: no limit. */
  within?: string;
}

/** A skill as it was when it was found. */
export interface Skill {
  readonly name: string;
  /** On one line; what cannot be seen is written as `<U+200B>`. */
  readonly description: string;
  /** The folder of its SKILL.md, without links. */
  readonly folder: string;
  /** The Markdown of its SKILL.md, at most 50 KB. */
  readonly text: string;
}

export interface FoundSkills {
  readonly skills: readonly Skill[];
  /** A sentence for each skill that was left out, hidden by another, or read although something of it is not as specified. */
  readonly warnings: readonly string[];
}

/** Finds the skills of all folders; of two with one name the first stays. Never throws for what a folder holds. */
export function findSkills(folders: readonly (string | SkillFolder)[]): FoundSkills {
  const skills = new Map<string, Skill>();
  const warnings: string[] = [];
  let count = 0;
  let marks = 0;
  const countMarks = (yaml: string): void => {
    const own = marksIn(yaml);
    marks += own;
    if (own > maxMarks)
      throw new Error(`its frontmatter has ${own} marks of YAML, more than the ${maxMarks} that are read`);
    if (marks > maxMarksOfAll) throw new Error("the frontmatters before it take too long to read");
  };
  for (const given of folders) {
    const { path, within } = typeof given === "string" ? { path: given } : given;
    for (const place of placesIn(path, warnings)) {
      const shown = printableName(place);
      if (count === maxSkills) {
        warnings.push(`${shown}: left out with all that follow, because ${maxSkills} skills are read at most`);
        return { skills: [...skills.values()], warnings };
      }
      count += 1;
      try {
        const { skill, remarks } = readSkill(place, within, countMarks);
        if (skill === undefined) continue;
        const first = skills.get(skill.name);
        if (first) {
          const other = printableName(join(first.folder, "SKILL.md"));
          warnings.push(`${shown}: left out, because ${other} has the same name and comes before it`);
        } else {
          skills.set(skill.name, skill);
          warnings.push(...remarks.map((remark) => `${shown}: ${remark}`));
        }
      } catch (error) {
        warnings.push(`${shown}: left out, because ${showInvisible(messageOf(error))}`);
      }
    }
  }
  return { skills: [...skills.values()], warnings };
}

/** Returns the paths of the SKILL.md files one level below a folder, in the order of their names. */
function placesIn(folder: string, warnings: string[]): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = isObject(error) ? error.code : undefined;
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      warnings.push(`${printableName(folder)}: left out, because it cannot be read (${String(code)})`);
    }
    return [];
  }
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .sort()
    .map((name) => resolve(folder, name, "SKILL.md"))
    .filter(exists);
}

/** Returns whether a file exists; false also for a link that leads nowhere. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readSkill(
  place: string,
  within: string | undefined,
  countMarks: (yaml: string) => void,
): { skill?: Skill; remarks: string[] } {
  const file = realpathSync(place);
  const folder = realpathSync(join(place, ".."));
  if (within !== undefined) {
    const project = realpathSync(within);
    const outside = [file, folder].find((path) => !isInside(project, path));
    if (outside !== undefined) throw new Error(`it leads to ${printableName(outside)}, outside of the project`);
  }
  const { fields, body, mended } = readFrontmatter(contentOf(file), countMarks);
  // YAML of 2005 has other words for true, and quotes make it a text.
  if (/^(?:true|yes|on)$/i.test(String(fields["disable-model-invocation"]))) return { remarks: [] };
  const remarks = mended === undefined ? [] : [`${mended}; they were read as text`];
  const name = nameOf(fields.name, basename(join(place, "..")), remarks);
  const description = oneVisibleLine(typeof fields.description === "string" ? fields.description : "");
  if (description === "") throw new Error("its description is missing, which should say when to use it");
  if (description.length > longestDescription) {
    remarks.push(`its description has ${description.length} characters, more than ${longestDescription}`);
  }
  const text = limitBytes(body.replace(/[^\n\t]+/g, showInvisible), maxSkillBytes);
  return { skill: { name, description, folder, text }, remarks };
}

function contentOf(file: string): string {
  const opened = openRegularFile(file, createPathScope());
  try {
    if (opened.stats.size > maxFileBytes) {
      throw new Error(`it has ${opened.stats.size} bytes, more than the ${maxFileBytes} that are read`);
    }
    const content = readFileSync(opened.descriptor);
    if (isBinary(content)) throw new Error("it is not text");
    return content.toString("utf8");
  } finally {
    opened.close();
  }
}

/** Throws for characters that no name has; other deviations are remarks. */
function nameOf(given: unknown, folderName: string, remarks: string[]): string {
  const name = typeof given === "string" ? given : folderName;
  if (!/^[a-z0-9-]+$/.test(name)) {
    throw new Error(`its name ${JSON.stringify(name.slice(0, 80))} has characters other than a-z, 0-9 and -`);
  }
  if (typeof given !== "string") remarks.push("its name is missing; the name of its folder is used");
  else if (name !== folderName) remarks.push(`its name ${name} differs from the name of its folder`);
  if (name.length > longestName) remarks.push(`its name has more than ${longestName} characters`);
  if (/^-|-$|--/.test(name)) remarks.push(`its name ${name} begins or ends with a hyphen, or has two in a row`);
  return name;
}

function oneVisibleLine(text: string): string {
  return showInvisible(text.replace(/\s+/g, " ").trim());
}

/** Most bytes of the YAML between the two `---` lines. */
const maxFrontmatterBytes: number = 8 * 1024;

interface Frontmatter {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The Markdown behind it, trimmed. */
  readonly body: string;
  /** Says what was read although it is not valid; undefined where nothing was mended. */
  readonly mended?: string;
}

/** Splits a SKILL.md into its fields and its text. Throws an Error, in words, for what cannot be understood. */
function readFrontmatter(content: string, countMarks: (yaml: string) => void): Frontmatter {
  const text = content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const [, yaml = "", body = ""] = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
  if (yaml === "") throw new Error("it does not begin with fields between two lines of ---");
  const bytes = Buffer.byteLength(yaml);
  if (bytes > maxFrontmatterBytes) {
    throw new Error(`its frontmatter has ${bytes} bytes, more than the ${maxFrontmatterBytes} that are read`);
  }
  countMarks(yaml);
  const fields = parse(yaml);
  if (typeof fields !== "string") return { fields, body: body.trim() };
  const quoted = parse(quoteValues(yaml));
  if (typeof quoted === "string") throw new Error(`its frontmatter is not YAML: ${fields}`);
  return { fields: quoted, body: body.trim(), mended: "its frontmatter has values that need quotes in YAML" };
}

/** Counts what the parser takes time for. Commas of a sentence are none. */
function marksIn(yaml: string): number {
  const marks = /[[{]/.test(yaml) ? /[[\]{}"'&*!,\\]|[-:?](?=\s|$)|\n/g : /["'&*!\]}\\]|[-:?](?=\s|$)|\n/g;
  return yaml.match(marks)?.length ?? 0;
}

/**
 * Returns the fields, or the parser's words for what is wrong. Throws an Error for a text without fields, and for aliases that
 * would grow without end.
 */
function parse(yaml: string): Readonly<Record<string, unknown>> | string {
  const document = parseDocument(yaml, { uniqueKeys: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error) return error.message.split("\n", 1)[0] ?? "";
  const fields: unknown = document.toJS({ maxAliasCount: 20 });
  if (!isPlainObject(fields)) throw new Error("its frontmatter has no fields");
  return fields;
}

/** Quotes the value of each plain `key: value` line, so that `description: Use when: x` is the text that was meant. */
function quoteValues(yaml: string): string {
  return yaml.replace(/^([\w-]+):[ \t]+(?!["'|>])(\S.*)$/gm, (_, key: string, value: string) => {
    return `${key}: ${JSON.stringify(value.trim())}`;
  });
}
