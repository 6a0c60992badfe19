import type { Reporter, TestModule } from "vitest/node";
import { closingLine, countTests } from "./testResults.ts";

/** Prints `N passed, N failed` alone on the last line, from the run's real results. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = countTests(modules);
    counts.failed += unhandled.length;
    setImmediate(() => console.log(closingLine(counts)));
  }
}
