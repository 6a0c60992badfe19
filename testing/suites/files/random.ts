/** Drawn anew for each run of the long suites and printed by it; TOOLCRIB_SEED repeats one. */
export const suiteSeed: number = Number(process.env.TOOLCRIB_SEED ?? 0);

/** A whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number;

/** The same numbers for the same seed: a linear congruential generator, its weak low bits left out. */
export function createRandom(seed: number): Random {
  let state = (seed + 1) * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 10) % below;
  };
}
