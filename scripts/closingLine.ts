import type { Reporter, TestModule } from "vitest/node";

/** Prints `N passed, N failed` alone on the last line, from the run's real results. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") count.passed += 1;
        else if (state === "skipped") count.skipped += 1;
        else count.failed += 1;
      }
      // A file that did not load has no failed test to count.
      if (module.state() === "failed" && count.failed === before) count.failed += 1;
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    setImmediate(() => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`));
  }
}
