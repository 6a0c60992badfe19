import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pair, startChild } from "../pairs.mjs";

const count = 100;

/** The catalogue of many skills, made anew, beside what it takes to read and parse their files. */
export async function skills(report, { rounds }) {
  const folder = mkdtempSync(fileURLToPath(new URL("../.corpora-skills-", import.meta.url)));
  try {
    for (let index = 0; index < count; index += 1) {
      const name = `skill-${index}`;
      mkdirSync(`${folder}/${name}`);
      const head = `---\nname: ${name}\ndescription: Does the ${index}th of the things that a team does. Use it for those.\n---\n`;
      writeFileSync(`${folder}/${name}/SKILL.md`, head + "One line of what is to be done, in words.\n".repeat(50));
    }
    const catalogue = startChild("skills.mjs", { args: ["catalogue", folder] });
    const plain = startChild("skills.mjs", { args: ["plain", folder] });
    report({
      name: `catalogue of ${count} skills, to reading and parsing their files`,
      goal: 1.5,
      ...(await pair(catalogue, plain, { rounds: rounds * 3 })),
      sameCount: true,
    });
    catalogue.end();
    plain.end();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
