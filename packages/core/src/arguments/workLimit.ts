/** Checking would take more work than a call may cause. The message says what, and what to do next. */
export class TooMuchWork extends Error {}

/** Counts work; throws TooMuchWork past its limit. Steps, not time: the verdict is the same on every machine. */
export type Spend = (steps: number) => void;

export function countSteps(limit: number): Spend {
  let left = limit;
  return (steps) => {
    left -= steps;
    if (left < 0) throw new TooMuchWork(`that takes more than ${limit} steps; pass fewer or smaller values`);
  };
}
