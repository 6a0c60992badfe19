// `npm run test:release`: the packages versioned, published to a registry on loopback and installed as users do. `-- NAME …` runs the
// cases whose name contains one of the words, `-- --short` those of every check. TOOLCRIB_KEEP=1 keeps the folders.
import { runCases } from "../consumers/runCases.mjs";
import { installs } from "./cases/installs.mjs";
import { managersAndTypes } from "./cases/managersAndTypes.mjs";
import { firstReleases, laterReleases } from "./cases/releases.mjs";
import { upgrades, upgradesBelowOne } from "./cases/upgrades.mjs";

/** Users who change nothing that others see. */
const users = [...installs, ...managersAndTypes].map(([name, run, options]) => [
  name,
  run,
  { ...options, beside: true },
]);

// In the order of the releases: what is about an earlier one comes before a later one is made.
await runCases([...firstReleases, ...users, ...upgradesBelowOne, ...upgrades, ...laterReleases]);
