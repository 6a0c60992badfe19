export type { Skill } from "./findSkills.ts";
export type { SkillFolder } from "./skillPlaces.ts";
export { createSkills, type Skills } from "./skills.ts";
