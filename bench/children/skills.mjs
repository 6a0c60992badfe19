// The catalogue of a folder of skills, or what it takes to read and parse it by hand: the first argument; the second is the folder.
import { readdirSync, readFileSync } from "node:fs";
import { createSkills } from "@toolcrib/skills";
import { parse } from "yaml";
import { answer } from "../pairs.mjs";

const [what, folder] = process.argv.slice(2);

const cases = {
  catalogue: () => createSkills({ folders: [folder] }).skills.length,
  plain: () => {
    let found = 0;
    for (const name of readdirSync(folder)) {
      const text = readFileSync(`${folder}/${name}/SKILL.md`, "utf8");
      const { name: called, description } = parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? "");
      if (called === name && description) found += 1;
    }
    return found;
  },
};

answer(cases[what]);
