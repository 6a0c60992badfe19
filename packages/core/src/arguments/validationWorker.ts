import { parentPort } from "node:worker_threads";
import * as library from "@cfworker/json-schema";
import type { JsonSchema } from "../interface.ts";
import { systemThreadId } from "../workerThread.ts";
import { prepare } from "./schemaLibrary.ts";

/** The thread behind `validateInThread`: posts its id when it is ready, then answers each `{ schema, value }` with its errors. */
parentPort?.on("message", ({ schema, value }: { schema: JsonSchema; value: unknown }) => {
  parentPort?.postMessage(prepare(library, schema)(value));
});
parentPort?.postMessage(systemThreadId());
