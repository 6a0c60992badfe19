// Serves the dice over standard input and output.
import { serveMcp } from "@toolcrib/mcp";
import { dice } from "./dice.mjs";

const serving = await serveMcp(dice());
await serving.closed;
