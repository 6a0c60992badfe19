import { afterAll } from "vitest";

/** The properties of rules and modes, with the seed of the run; TOOLCRIB_ROUNDS=1000 is the full size. */
process.env.TOOLCRIB_PRECEDENCE_RUNS = String(Number(process.env.TOOLCRIB_ROUNDS ?? 30) * 10);
afterAll(() => {
  delete process.env.TOOLCRIB_PRECEDENCE_RUNS;
});

await import("../../../packages/policy/src/precedence.test.ts");
