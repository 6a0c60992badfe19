// Fetches a page anew: with `web_fetch`, or by hand up to the parsed tree. The first argument says which, the second is its address.
import { createWebFetchTool } from "@toolcrib/tools-web";
import { parse } from "parse5";
import { answer } from "../pairs.mjs";

const [what, url] = process.argv.slice(2);
const tool = createWebFetchTool({ privateHosts: ["127.0.0.1"] });
let count = 0;

/** A page is kept for a while, so each is another one. */
const next = () => `${url}?${++count}`;

const cases = {
  tool: async () => Number((await tool.execute({ url: next() })).includes("Section 0")),
  parse5: async () => parse(await (await fetch(next())).text()).childNodes.length - 1,
};

answer(cases[what]);
