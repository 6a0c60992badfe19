// Runs cases by the words of the command line, and counts them.
import { cleanUp } from "./project.mjs";

/**
 * A case: `[name, run, { short, beside }]`; `run` throws where a promise is not kept, and may return a remark. Neighbours that say
 * `beside` run two at a time.
 */
export async function runCases(cases) {
  const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const short = process.argv.includes("--short");
  const chosen = cases.filter(
    ([name, , options = {}]) =>
      (options.short || !short) && (words.length === 0 || words.some((word) => name.includes(word))),
  );
  const count = { passed: 0, failed: 0 };
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      cleanUp();
      process.exit(130);
    });
  }
  try {
    while (chosen.length > 0) {
      const alone = chosen.findIndex(([, , options = {}]) => !options.beside);
      const together = chosen.splice(0, alone === -1 ? chosen.length : Math.max(alone, 1));
      const work = async () => {
        for (let next = together.shift(); next; next = together.shift()) await runCase(next, count);
      };
      await Promise.all([work(), work()]);
    }
  } finally {
    cleanUp();
  }
  console.log(`${count.passed} passed, ${count.failed} failed`);
  process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
}

async function runCase([name, run], count) {
  const started = Date.now();
  try {
    const remark = await run();
    count.passed += 1;
    console.log(`✓ ${name} (${Math.round((Date.now() - started) / 1000)} s)${remark ? `: ${remark}` : ""}`);
  } catch (error) {
    count.failed += 1;
    console.log(`✗ ${name}\n${String(error?.message ?? error).replace(/^/gm, "    ")}`);
  }
}
