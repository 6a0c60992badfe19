import { randomOf } from "@toolcrib/testing/randomOf";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { test } from "vitest";
import { talkLong } from "./fullContext.ts";

const server = await sharedWireServer();

// The suite of the same name has more of them, and longer ones.
test.each([1, 2, 4, 9])("random conversation %i never ends because the context is full", async (seed) => {
  await talkLong(server, randomOf(seed), 30);
});
