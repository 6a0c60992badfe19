export { type Instructions, readInstructions } from "./instructions/readInstructions.ts";
