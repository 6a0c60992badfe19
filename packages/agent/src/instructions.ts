export {
  type InstructionFile,
  type Instructions,
  type LeftOutInstructions,
  type ReadInstructionsOptions,
  readInstructions,
} from "./instructions/readInstructions.ts";
