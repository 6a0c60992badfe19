import { parentPort } from "node:worker_threads";
import * as library from "@cfworker/json-schema";
import type { JsonSchema } from "../interface.ts";
import { prepare } from "./validator.ts";

/** The thread behind `validateInWorker`: says that it is ready, then answers each `{ schema, value }` with the list of errors. */
parentPort?.on("message", ({ schema, value }: { schema: JsonSchema; value: unknown }) => {
  parentPort?.postMessage(prepare(library, schema)(value));
});
parentPort?.postMessage("ready");
