// `npm run test:consumers`: the packed packages in other people's projects (`test:release` tries package managers, by name). `-- NAME …`
// runs the cases whose name contains one of the words, `-- --short` those of every check. TOOLCRIB_KEEP=1 keeps the projects.
import { bundlers } from "./cases/bundlers.mjs";
import { examples } from "./cases/examples.mjs";
import { initProject } from "./cases/initProject.mjs";
import { runners } from "./cases/runners.mjs";
import { runtimes } from "./cases/runtimes.mjs";
import { types } from "./cases/types.mjs";
import { runCases } from "./runCases.mjs";

// Two at a time: most of a case is waiting for an install. The cases of vitest share a folder.
const cases = [...runtimes, ...runners, ...bundlers, ...types, ...examples, ...initProject];
await runCases(cases.map(([name, run, options]) => [name, run, { ...options, beside: !name.startsWith("vitest") }]));
