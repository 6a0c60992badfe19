import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { ExecutableTool } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { clip, messageOf, showInvisible } from "@toolcrib/core/text";
import { isInside } from "@toolcrib/kit/files";
import type { Skill, SkillFolder, Skills } from "@toolcrib/skills";
import type { Program } from "../program.ts";
import type { Folders } from "../state/folders.ts";
import { canonicalPath } from "../state/stateFolder.ts";
import { type Asker, askYesNo, isTooLong } from "../terminal/ask.ts";
import { trustIn } from "./trust.ts";

export type LoadedSkills = Pick<Skills, "skills" | "catalogue" | "readable"> & {
  readonly tools: readonly ExecutableTool[];
};

export const noSkills: LoadedSkills = { skills: [], catalogue: "", readable: [], tools: [] };

/** Folders of skills, below a project and below home; the first is toolcrib's own, the others are those of the field. */
const folderNames = [".toolcrib/skills", ".agents/skills", ".claude/skills"];

const mostWarnings = 5;

/**
 * Loads the skills of a directory and of the user, the directory's first. Those of the directory count once the user trusts them as they are:
 * `asker` asks; without it a line says that they are not used.
 */
export async function loadSkills(directory: string, program: Program, asker: Asker | undefined): Promise<LoadedSkills> {
  const { folders, terminal } = program;
  const found = await findSkills(directory, folders);
  if (!found) return noSkills;
  const isUsed = found.project.length === 0 || (await isTrusted(found, program, asker));
  const { warnings, shortened, ...skills } = isUsed ? found.all : found.own();
  if (shortened !== undefined) terminal.aside(shortened);
  for (const warning of warnings.slice(0, mostWarnings)) terminal.aside(`A skill: ${oneLine(warning, 300)}`);
  if (warnings.length > mostWarnings)
    terminal.aside(`There are ${warnings.length - mostWarnings} more notes on skills.`);
  // The directory's lie in its root. Named here they could not be changed, and a link put in their place meanwhile would count.
  return found.project.length === 0 ? skills : { ...skills, readable: found.own().readable };
}

/** Holds the content of the folders as it was when it was read. */
export interface FoundSkills {
  readonly directory: string;
  readonly all: Skills;
  readonly project: readonly Skill[];
  own(): Skills;
}

/** Finds skills; undefined if none of the folders exists: then nothing is loaded for them. */
export async function findSkills(directory: string, { home, config }: Folders): Promise<FoundSkills | undefined> {
  const place = realpathSync(directory);
  const isHome = place === canonicalPath(home);
  const ofProject: SkillFolder[] = isHome
    ? []
    : folderNames.map((name) => ({ path: join(place, name), within: place }));
  const ofUser = [...folderNames.map((name) => join(home, name)), join(config, "skills")];
  if (![...ofProject.map(({ path }) => path), ...ofUser].some((path) => existsSync(path))) return undefined;
  const { createSkills } = await import("@toolcrib/skills");
  const all = createSkills({ folders: [...ofProject, ...ofUser] });
  return {
    directory: place,
    all,
    project: isHome ? [] : all.skills.filter(({ folder }) => isInside(place, folder)),
    own: () => createSkills({ folders: ofUser }),
  };
}

/** Returns all that the model would read of the directory's skills: a yes holds for exactly this. */
export function skillText({ project, directory }: FoundSkills): string {
  return JSON.stringify(project.map((skill) => ({ ...skill, folder: relative(directory, skill.folder) })));
}

/** Of more than so many skills the names alone are shown, so that they fit a screen. */
const mostDescribed = 8;

export function describeSkills({ project, directory }: FoundSkills): string[] {
  return project.map(({ name, description, folder }) => {
    const about = project.length > mostDescribed ? "" : `: ${clip(description, 100)}`;
    return showInvisible(`  ${name} (${relative(directory, folder) || "."})${about}`);
  });
}

async function isTrusted(
  found: FoundSkills,
  { trust, cwd, terminal }: Program,
  asker: Asker | undefined,
): Promise<boolean> {
  const text = skillText(found);
  const store = trustIn({ trust }, "skills", found.directory);
  const answered = await store.of(text);
  if (answered === "trusted") return true;
  if (!asker || answered === "refused") {
    const why = { refused: "you said no to them", changed: "they have changed", new: "they are not trusted yet" }[
      answered
    ];
    const count = found.project.length === 1 ? "1 skill" : `${found.project.length} skills`;
    terminal.aside(
      `${count} of this folder not used: ${why}; toolcrib config trust ${found.directory === cwd ? "" : `in ${found.directory} `}shows and uses them`,
    );
    return false;
  }
  const lines = ["This folder has skills, instructions that the model may read and follow:", ...describeSkills(found)];
  if (isTooLong(asker, lines)) {
    terminal.aside(
      "The skills of this folder are not used: there are too many to show on this screen; read them, then run toolcrib config trust",
    );
    return false;
  }
  const answer = await askYesNo(asker, { lines, question: "Use them here, until they change?" });
  await store.save(text, answer).catch((error: unknown) => {
    terminal.aside(`The answer could not be saved for the next time: ${messageOf(error)}`);
  });
  return answer;
}
