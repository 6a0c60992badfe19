import { hasPostgres } from "@toolcrib/testing/postgres";
import { show } from "@toolcrib/testing-agent/durable/show";
import { expect, test } from "vitest";
import { suiteSeed } from "../random.ts";

const runs = Number(process.env.TOOLCRIB_ROUNDS ?? 30);

test.skipIf(!hasPostgres)(
  `${runs} runs end on workers that are killed at random, and no finished step runs twice`,
  async () => {
    const pace = { latencyMs: [100, 400], toolMs: [100, 600], leaseMs: 2000 } as const;
    const size = { plan: "long", runs, workers: 4, concurrency: Math.min(60, runs) } as const;
    const figures = await show({ ...pace, ...size, killEveryMs: 2000, seed: suiteSeed, limitMs: 540_000 }, console.log);
    expect(figures?.verdict).toMatchObject({ problems: [], steps: runs * 20 });
    expect(figures?.kills).toBeGreaterThan(0);
  },
);
