// Finds the skills below folders, in their order, and says what was left out.
import { readFileSync, readSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isPlainObject } from "@toolcrib/core/internal";
import { limitBytes, messageOf, printableName, showInvisible } from "@toolcrib/core/text";
import { createPathScope, isInside, openRegularFile, type RegularFile } from "@toolcrib/kit/files";
import { isBinary } from "@toolcrib/kit/text";
import { parseDocument } from "yaml";
import { type SkillFolder, type SkillPlace, SkillPlaces } from "./skillPlaces.ts";

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

/** A skill, and the file where it was read, without links. */
interface ReadSkill {
  /** Undefined for one that is not offered to models. */
  readonly skill?: Skill;
  readonly file: string;
  readonly remarks: readonly string[];
}

/** Finds the skills of all folders; of two with one name the first stays. Never throws for what a folder holds. */
export function findSkills(folders: readonly (string | SkillFolder)[]): FoundSkills {
  const skills = new Map<string, Skill>();
  const files = new Map<string, string>();
  const folderPaths = new Set<string>();
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
  const add = (place: string, { skill, file, remarks }: ReadSkill): void => {
    if (skill === undefined) return;
    const first = files.get(skill.name);
    // Reached by two links, it is one skill.
    if (first === file || folderPaths.has(skill.folder)) return;
    if (first !== undefined) {
      const why = `${printableName(first)} has the same name and comes before it`;
      warnings.push(`${printableName(place)}: left out, because ${why}`);
      return;
    }
    skills.set(skill.name, skill);
    files.set(skill.name, file);
    folderPaths.add(skill.folder);
    warnings.push(...remarks.map((remark) => `${printableName(place)}: ${remark}`));
  };
  const places = new SkillPlaces(warnings);
  for (const given of folders) {
    const folder = typeof given === "string" ? { path: given } : given;
    for (const place of places.below(folder)) {
      if (count === maxSkills) {
        const why = `${maxSkills} skills are read at most`;
        warnings.push(`${printableName(place.path)}: left out with all that follow, because ${why}`);
        return { skills: [...skills.values()], warnings };
      }
      count += 1;
      try {
        add(place.path, readSkill(place, countMarks));
      } catch (error) {
        warnings.push(`${printableName(place.path)}: left out, because ${showInvisible(messageOf(error))}`);
      }
    }
  }
  return { skills: [...skills.values()], warnings };
}

function readSkill({ path: place, folder, ...found }: SkillPlace, countMarks: (yaml: string) => void): ReadSkill {
  const file = found.file || realpathSync.native(place);
  if (found.limit !== "" && !isInside(found.limit, file)) {
    throw new Error(`it leads to ${printableName(file)}, outside of the project`);
  }
  const { fields, body, mended } = readFrontmatter(contentOf(file), countMarks);
  // YAML of 2005 has other words for true, and quotes make it a text.
  if (/^(?:true|yes|on)$/i.test(String(fields["disable-model-invocation"]))) return { file, remarks: [] };
  const remarks = mended === undefined ? [] : [`${mended}; they were read as text`];
  if (basename(place) !== "SKILL.md") remarks.push("its file should be named SKILL.md");
  const name = nameOf(fields.name, [basename(dirname(place)), basename(folder)], remarks);
  const description = showInvisible(oneLine(typeof fields.description === "string" ? fields.description : ""));
  if (description === "") throw new Error("its description is missing, which should say when to use it");
  if (description.length > longestDescription) {
    remarks.push(`its description has ${description.length} characters, more than ${longestDescription}`);
  }
  const isPlain = !/[^\n\t -~]/.test(body);
  const text = limitBytes(isPlain ? body : body.replace(/[^\n\t]+/g, showInvisible), maxSkillBytes);
  return { skill: { name, description, folder, text }, file, remarks };
}

/** A scope without limits: a skill is read where its links lead. */
const scope = createPathScope();

function contentOf(file: string): string {
  const opened = openRegularFile(file, scope);
  try {
    if (opened.stats.size > maxFileBytes) {
      throw new Error(`it has ${opened.stats.size} bytes, more than the ${maxFileBytes} that are read`);
    }
    const content = bytesOf(opened);
    if (isBinary(content)) throw new Error("it is not text");
    return content.toString("utf8");
  } finally {
    opened.close();
  }
}

/** Holds one file after another: most are small. */
let buffer: Buffer | undefined;

function bytesOf({ descriptor, stats }: RegularFile): Buffer {
  buffer ??= Buffer.allocUnsafe(2 ** 16);
  const length = readSync(descriptor, buffer, 0, buffer.length, 0);
  // Some files are longer, or say that they are empty.
  return length === stats.size ? buffer.subarray(0, length) : readFileSync(descriptor);
}

/** Throws for characters that no name has; other deviations are remarks. `folderNames` are that of a link and that of the folder. */
function nameOf(given: unknown, folderNames: readonly [string, string], remarks: string[]): string {
  const name = typeof given === "string" ? given : folderNames[0];
  if (!/^[a-z0-9-]+$/.test(name)) {
    throw new Error(`its name ${JSON.stringify(name.slice(0, 80))} has characters other than a-z, 0-9 and -`);
  }
  if (typeof given !== "string") remarks.push("its name is missing; the name of its folder is used");
  else if (!folderNames.includes(name)) remarks.push(`its name ${name} differs from the name of its folder`);
  if (name.length > longestName) remarks.push(`its name has more than ${longestName} characters`);
  if (/^-|-$|--/.test(name)) remarks.push(`its name ${name} begins or ends with a hyphen, or has two in a row`);
  return name;
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
  const marked = content.replace(/^\ufeff/, "");
  const text = marked.includes("\r") ? marked.replace(/\r\n?/g, "\n") : marked;
  const [head = "", yaml = ""] = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (yaml === "") throw new Error("it does not begin with fields between two lines of ---");
  const bytes = Buffer.byteLength(yaml);
  if (bytes > maxFrontmatterBytes) {
    throw new Error(`its frontmatter has ${bytes} bytes, more than the ${maxFrontmatterBytes} that are read`);
  }
  countMarks(yaml);
  const fields = parse(yaml);
  const found = { body: text.slice(head.length).trim(), mended: "its frontmatter has values that need quotes in YAML" };
  if (typeof fields === "string") {
    const quoted = parse(quoteValues(yaml));
    if (typeof quoted === "string") throw new Error(`its frontmatter is not YAML: ${fields}`);
    return { fields: quoted, ...found };
  }
  const description = [...yaml.matchAll(line)].findLast(([, key]) => key === "description")?.[2];
  const said = description === undefined || isYamlValue(description) ? undefined : oneLine(description);
  // A comment, a tag or an anchor for YAML: part of the sentence for its author. A blank line ends what is looked at here.
  if (said === undefined || oneLine(String(fields.description)).startsWith(said)) return { fields, body: found.body };
  return { fields: { ...fields, description: said }, ...found };
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
  const options = { uniqueKeys: false, logLevel: "silent" } as const;
  // Counts no lines, which only the words for an error need.
  const document = parseDocument(yaml, { ...options, prettyErrors: false });
  if (document.errors.length > 0) return parseDocument(yaml, options).errors[0]?.message.split("\n", 1)[0] ?? "";
  const fields: unknown = document.toJS({ maxAliasCount: 20 });
  if (!isPlainObject(fields)) throw new Error("its frontmatter has no fields");
  return fields;
}

/** A key and its value on one line, with the lines that go on with it. */
const line = /^([\w-]+):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$/gm;

/** Returns whether a value is written as YAML has it: in quotes, as a block below its line, or none at all. */
function isYamlValue(value: string): boolean {
  return /^(?:#|[|>][-+\d]*[ \t]*(?:#.*)?(?:\n|$)|"(?:[^"\\]|\\[\s\S])*"\s*(?:#.*)?$|'(?:[^']|'')*'\s*(?:#.*)?$)/.test(
    value,
  );
}

/** Quotes each value that is none of YAML's, so that `description: Use when: x` is the text that was meant. */
function quoteValues(yaml: string): string {
  return yaml.replace(line, (whole, key: string, value: string) => {
    const isSentence = key === "description";
    if (isYamlValue(value) || (!isSentence && /^["'|>]/.test(value))) return whole;
    return `${key}: ${JSON.stringify(oneLine(isSentence ? value : value.replace(/\s#.*$/s, "")))}`;
  });
}

function oneLine(text: string): string {
  return (/[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, " ") : text).trim();
}
