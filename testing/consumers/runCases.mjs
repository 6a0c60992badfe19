// Runs cases by the words of the command line, and counts them.
import { cleanUp } from "./project.mjs";

/** A case: `[name, run, { short }]`; `run` throws where a promise is not kept, and may return a remark. */
export async function runCases(cases) {
  const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const short = process.argv.includes("--short");
  const count = { passed: 0, failed: 0 };
  try {
    for (const [name, runCase, options = {}] of cases) {
      if (short && !options.short) continue;
      if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
      const started = Date.now();
      try {
        const remark = await runCase();
        count.passed += 1;
        console.log(`✓ ${name} (${Math.round((Date.now() - started) / 1000)} s)${remark ? `: ${remark}` : ""}`);
      } catch (error) {
        count.failed += 1;
        console.log(`✗ ${name}\n${String(error?.message ?? error).replace(/^/gm, "    ")}`);
      }
    }
  } finally {
    cleanUp();
  }
  console.log(`${count.passed} passed, ${count.failed} failed`);
  process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
}
