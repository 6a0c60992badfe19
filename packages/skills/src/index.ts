export type { Skill, SkillFolder } from "./findSkills.ts";
export { createSkills, type Skills } from "./skills.ts";
