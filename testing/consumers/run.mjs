// `npm run test:consumers`: the packed packages in other people's projects. `-- NAME …` runs the cases whose name contains one of
// the words, `-- --short` those of every check. TOOLCRIB_KEEP=1 keeps the projects.
import { bundlers } from "./cases/bundlers.mjs";
import { managers } from "./cases/managers.mjs";
import { runners } from "./cases/runners.mjs";
import { runtimes } from "./cases/runtimes.mjs";
import { types } from "./cases/types.mjs";
import { cleanUp } from "./project.mjs";

const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const short = process.argv.includes("--short");
const count = { passed: 0, failed: 0 };

try {
  // A case: `[name, run, { short }]`; `run` throws where the host does not do what it has to.
  for (const [name, runCase, options = {}] of [...runtimes, ...runners, ...bundlers, ...managers, ...types]) {
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
