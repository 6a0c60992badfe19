/** How much work a decision may still take, in steps. */
export interface Budget {
  /** False once all is used up. */
  take(steps: number): boolean;
}

export function newBudget(steps: number): Budget {
  let left = steps;
  return {
    take(taken) {
      left -= taken;
      return left >= 0;
    },
  };
}
