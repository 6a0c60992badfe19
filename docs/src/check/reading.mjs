import { join } from "node:path";
import { published } from "../site/sources.mjs";
import { findMisplaced } from "./misplaced.mjs";
import { findUnnoted } from "./unpublished.mjs";
import { findUnreadable } from "./unreadable.mjs";

const widths = [360, 768, 1280];
const themes = ["light", "dark"];

/** Visits one page: errors of its console and its requests, its links and anchors, and what cannot be read or is misplaced at each width and theme. */
export async function checkReading(tab, url, address, pictures) {
  const errors = [];
  const listeners = {
    console: (message) => message.type() === "error" && errors.push(`console: ${message.text()}`),
    pageerror: (error) => errors.push(`error: ${error.message}`),
    // What the next page interrupts (a file of the search that is fetched ahead) did not fail.
    requestfailed: (request) =>
      request.failure().errorText !== "net::ERR_ABORTED" && errors.push(`request failed: ${request.url()}`),
    request: (request) =>
      !request.url().startsWith(url) &&
      !request.url().startsWith("data:") &&
      errors.push(`asks another host: ${request.url()}`),
    response: (response) => response.status() >= 400 && errors.push(`${response.status()}: ${response.url()}`),
  };
  for (const [name, listener] of Object.entries(listeners)) tab.on(name, listener);
  await tab.setViewportSize({ width: widths[1], height: 900 });
  await tab.goto(url + address, { waitUntil: "load" });
  const links = await tab.evaluate(() => ({
    targets: [...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href")),
    anchors: [...document.querySelectorAll("[id], a[name]")].map(
      (element) => element.id || element.getAttribute("name"),
    ),
  }));
  const unreadable = published ? [] : await tab.evaluate(findUnnoted);
  for (const width of widths) {
    await tab.setViewportSize({ width, height: 900 });
    unreadable.push(...(await tab.evaluate(findMisplaced)).map((problem) => `at ${width} pixels: ${problem}`));
    for (const theme of themes) {
      const found = await tab.evaluate(findUnreadable, theme);
      unreadable.push(...found.map((problem) => `at ${width} pixels, ${theme}: ${problem}`));
      if (pictures === undefined) continue;
      const name = `${address.replaceAll("/", "_")}${width}_${theme}.png`;
      await tab.screenshot({ path: join(pictures, name) });
    }
  }
  for (const [name, listener] of Object.entries(listeners)) tab.off(name, listener);
  return { errors, links, unreadable };
}
