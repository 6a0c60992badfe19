export type { ProgramOptions } from "./options.ts";
export { createProgramTools } from "./programTools.ts";
