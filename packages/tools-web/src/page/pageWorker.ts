// The thread that reads a page: hostile ones take long or much memory, which ends the thread and nothing else.
import { parentPort, workerData } from "node:worker_threads";
import { pageToMarkdown } from "./markdown.ts";

const { html, url } = workerData as { html: string; url: string };
parentPort?.postMessage(pageToMarkdown(html, url));
