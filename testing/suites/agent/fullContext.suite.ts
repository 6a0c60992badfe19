import { randomOf } from "@toolcrib/testing/randomOf";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { talkLong } from "@toolcrib/testing-agent/fullContext";
import { test } from "vitest";
import { suiteSeed } from "../random.ts";

const server = await sharedWireServer();
const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 10);

// `npm test` has a few short ones.
test(`${rounds} conversations of 200 steps never end because the context is full`, { timeout: 0 }, async () => {
  for (let round = 0; round < rounds; round += 1) await talkLong(server, randomOf(suiteSeed + round), 200);
});
