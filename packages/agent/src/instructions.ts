export { type Instructions, type ReadInstructionsOptions, readInstructions } from "./instructions/readInstructions.ts";
