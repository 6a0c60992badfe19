// Fetches a page anew: with `web_fetch`, or by hand up to the parsed tree. The first argument says which, the second is its address.
import { answer } from "../pairs.mjs";

const started = performance.now();
const [what, url] = process.argv.slice(2);
let count = 0;

/** A page is kept for a while, so each is another one. */
const next = () => `${url}?${++count}`;

const cases = {
  async tool() {
    const { createWebFetchTool } = await import("@toolcrib/tools-web");
    const tool = createWebFetchTool({ privateHosts: ["127.0.0.1"] });
    return async () => Number((await tool.execute({ url: next() })).includes("Section 0"));
  },
  async parse5() {
    const { parse } = await import("parse5");
    return async () => parse(await (await fetch(next())).text()).childNodes.length - 1;
  },
};

const get = await cases[what]();
const importMs = performance.now() - started;
answer(async ({ sinceImports = false }) => {
  const before = performance.now();
  const found = await get();
  return { ms: performance.now() - before + (sinceImports ? importMs : 0), count: found };
});
