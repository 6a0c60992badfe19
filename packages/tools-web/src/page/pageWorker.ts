// The thread that reads pages: hostile ones take long or much memory, which ends the thread and nothing else.
import { parentPort } from "node:worker_threads";
import { pageToMarkdown } from "./markdown.ts";

parentPort?.on("message", ({ html, url }: { html: string; url: string }) =>
  parentPort?.postMessage(pageToMarkdown(html, url)),
);
