import { randomOf } from "@toolcrib/testing/randomOf";

/** The seed of this run, which it prints. TOOLCRIB_SEED repeats one. */
export const suiteSeed: number = Number(process.env.TOOLCRIB_SEED);

/** A whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number;

export function createRandom(seed: number): Random {
  const random = randomOf(seed);
  return (below) => Math.floor(random() * below);
}
