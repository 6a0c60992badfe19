export type { Skill } from "./findSkills.ts";
export { createSkills, type Skills } from "./skills.ts";
