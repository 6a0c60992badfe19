import { TooManySteps } from "./notChecked.ts";

/** Counts work; throws TooManySteps past its limit. Steps, not time: the verdict is the same on every machine. */
export type Spend = (steps: number) => void;

export function countSteps(limit: number): Spend {
  let left = limit;
  return (steps) => {
    left -= steps;
    if (left < 0) throw new TooManySteps(`more than ${limit} steps`);
  };
}
