export type { Skill, SkillFolder } from "./findSkills.ts";
export { createSkills, type Skills, type SkillsOptions } from "./skills.ts";
