// Clicks through the built site, and through a conversation as a page, in headless Chromium; the last line is `N passed, N failed`. With DOCS_PICTURES=FOLDER it leaves
// a picture of every page there, in four variants.
import { existsSync, mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { checkLinks } from "./src/check/links.mjs";
import { checkLlms } from "./src/check/llms.mjs";
import { checkReading } from "./src/check/reading.mjs";
import { checkSearch } from "./src/check/search.mjs";
import { checkTheCheck } from "./src/check/selfTest.mjs";
import { listAddresses, serveSite } from "./src/check/serveSite.mjs";
import { checkTranscript } from "./src/check/transcript.mjs";

const pictures = process.env.DOCS_PICTURES;
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });

const counts = { passed: 0, failed: 0 };
function expectNone(name, problems) {
  counts[problems.length === 0 ? "passed" : "failed"] += 1;
  for (const problem of problems) console.log(`failed: ${name}: ${problem}`);
}

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(program)) {
  console.log(
    `test:docs needs chromium: ${program} is not there (on Debian: apt-get install chromium; CHROMIUM=PATH names another)`,
  );
  console.log("0 passed, 0 failed, 1 skipped");
  process.exit(0);
}
const site = await serveSite();
const browser = await chromium.launch({
  executablePath: program,
  args: [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
    ...["--disable-background-networking", "--disable-component-update"],
  ],
});
try {
  await checkTheCheck(browser);
  expectNone("a conversation as a page", await checkTranscript(browser, pictures));
  const addresses = listAddresses();
  const links = new Map();
  const queue = [...addresses];
  await Promise.all([visitAll(queue, links), visitAll(queue, links)]);
  for (const [address, problems] of checkLinks(links)) expectNone(`links of ${address}`, problems);
  expectNone("llms.txt", await checkLlms(site.url, addresses));
  for (const [name, problems] of await checkSearch(browser, site.url)) expectNone(name, problems);
} catch (error) {
  expectNone("the check", [error.stack]);
} finally {
  await browser.close();
  site.close();
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

/** Visits pages until the queue is empty, in one tab. */
async function visitAll(queue, links) {
  const tab = await browser.newPage();
  for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
    const found = await checkReading(tab, site.url, address, pictures);
    links.set(address, found.links);
    expectNone(`errors on ${address}`, found.errors);
    expectNone(`reading ${address}`, found.unreadable);
  }
}
