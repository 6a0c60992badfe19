import { beforeEach } from "vitest";

declare global {
  /** Stryker's own state; undefined outside its runs. */
  var __stryker__: { activeMutant?: string } | undefined;
}

// A program that a test starts is to run the same mutant as the test.
beforeEach(() => {
  const mutant = globalThis.__stryker__?.activeMutant;
  if (mutant !== undefined) process.env.__STRYKER_ACTIVE_MUTANT__ = mutant;
});
