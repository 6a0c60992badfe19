// The tool `read_skill`: the instructions of one skill, and where its other files are.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ExecutableTool, ToolError } from "@toolcrib/core";
import { attempt, nearestName } from "@toolcrib/core/internal";
import { clip, printableName } from "@toolcrib/core/text";
import { canonicalOrUndefined } from "@toolcrib/kit/files";
import type { Skill } from "./findSkills.ts";
import { skillFileOf } from "./skillPlaces.ts";

/** Most names of other files that a reply lists. */
const maxListedFiles = 100;

const parameters = {
  type: "object",
  properties: { name: { type: "string", description: "Name of a skill in the list" } },
  required: ["name"],
  additionalProperties: false,
} as const;

/** Makes the tool that answers the text of a skill. */
export function createReadSkillTool(skills: readonly Skill[]): ExecutableTool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "read_skill",
    origin: "@toolcrib/skills",
    description: "Read the instructions of a skill before doing the task that it is for.",
    parameters,
    readOnly: true,
    idempotent: true,
    openWorld: false,
    effects: ({ name }) => {
      const skill = byName.get(name);
      return skill ? [{ kind: "read", path: join(skill.folder, fileIn(skill.folder)) }] : [];
    },
    execute: async ({ name }) => {
      const skill = byName.get(name);
      if (skill) return replyOf(skill);
      const near = nearestName(name, [...byName.keys()]);
      const next = near === undefined ? "the list of skills is in the system prompt" : `did you mean ${near}?`;
      throw new ToolError({
        code: "execution_failed",
        message: `No skill is named ${JSON.stringify(clip(name, 80))}; ${next}`,
        recoverable: true,
      });
    },
  });
}

function replyOf({ name, folder, text }: Skill): string {
  const files = otherFiles(folder);
  const listed = files.slice(0, maxListedFiles).map((file) => `- ${printableName(file)}`);
  const more = files.length > maxListedFiles ? ["- (there are more)"] : [];
  return [
    `Skill ${name}. Relative paths in it are relative to ${printableName(folder)}.`,
    ...(listed.length > 0 ? ["Its other files:", ...listed, ...more] : []),
    "",
    text,
  ].join("\n");
}

/** Lists files beside the SKILL.md and one level below, sorted: one more than are listed, at most. */
function otherFiles(folder: string): string[] {
  const found: string[] = [];
  // A link may have taken its place meanwhile.
  if (canonicalOrUndefined(folder) !== folder) return found;
  const own = fileIn(folder);
  const add = (below: string, deeper: boolean): void => {
    for (const entry of entriesOf(join(folder, below))) {
      if (found.length > maxListedFiles) return;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && deeper && !entry.name.startsWith(".")) add(path, false);
      else if (entry.isDirectory()) found.push(`${path}/`);
      else if (path !== own) found.push(path);
    }
  };
  add("", true);
  return found;
}

/** Returns the name of the skill's file. */
function fileIn(folder: string): string {
  return skillFileOf(entriesOf(folder).map(({ name }) => name)) ?? "SKILL.md";
}

function entriesOf(folder: string): { name: string; isDirectory(): boolean }[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) ?? [];
}
