import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Provider } from "@toolcrib/agent";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import type { DurableRuns } from "@toolcrib/durable";
import { durable } from "@toolcrib/durable/dbos";
import type { RunTracing } from "@toolcrib/durable/telemetry";
import { fraction, now, resultOf, type ToolName, toolNames } from "./plan.ts";

export interface RunsOptions {
  /** Of the process that asks. */
  readonly name: string;
  readonly databaseUrl: string;
  readonly modelUrl: string;
  /** The file of what this process executes. */
  readonly ledger: string;
  readonly toolMs: readonly [least: number, most: number];
  readonly leaseMs: number;
  /** The number of runs at once. */
  readonly concurrency: number;
  /** Requests to the model at once, of all workers. Default: any number. */
  readonly requests?: number | undefined;
  /** The file of the spans of this process. Without it there are none. */
  readonly spans?: string | undefined;
}

/** One execution of a tool: a line of a ledger, written before the tool does anything else. */
export interface Executed {
  readonly job: string;
  readonly call: string;
  readonly tool: ToolName;
  readonly worker: string;
  readonly at: number;
}

const traits = { look_up: { readOnly: true }, put: { idempotent: true }, charge: {} } as const;

/** Opens the runs of a fleet's process: a worker's, or a starter's. */
export async function openRuns(options: RunsOptions): Promise<DurableRuns> {
  const { name, databaseUrl, modelUrl, leaseMs, concurrency } = options;
  const ledger = openSync(options.ledger, "a");
  const tools = new ToolRegistry();
  for (const each of toolNames) tools.register(tool(each, ledger, options));
  const plain = new OpenAICompatibleProvider({ baseURL: `${modelUrl}/v1`, model: "scripted", apiKey: name });
  const tracing = options.spans === undefined ? undefined : await traceAll(options.spans, tools, plain);
  const provider = tracing?.provider ?? plain;
  return durable({
    tracing: tracing?.runs,
    databaseUrl,
    agents: { worker: { provider, tools, systemPrompt: "Do the job." } },
    limits: {
      worker: { concurrency },
      ...(options.requests !== undefined && { providers: { [provider.name]: { concurrency: options.requests } } }),
    },
    leaseMs,
    // Where workers are killed all the time, a run may see many of them.
    maxAttempts: 10_000,
    onWarning: (message) => console.error(`${name}: ${message}`),
  });
}

/** Loaded where spans are asked for alone: what is measured has none. */
async function traceAll(
  file: string,
  tools: ToolRegistry,
  provider: Provider,
): Promise<{ provider: Provider; runs: RunTracing }> {
  const { traceProvider, traceTools } = await import("@toolcrib/agent/telemetry");
  const { traceRuns } = await import("@toolcrib/durable/telemetry");
  const { writeSpans } = await import("./spans.ts");
  writeSpans(file);
  tools.use(traceTools());
  return { provider: traceProvider(provider), runs: traceRuns() };
}

function tool(name: ToolName, ledger: number, { name: worker, toolMs }: RunsOptions): ExecutableTool {
  return defineTool({
    name,
    description: `Do ${name}.`,
    parameters: {
      type: "object",
      properties: { job: { type: "string" }, id: { type: "string" } },
      required: ["job", "id"],
      additionalProperties: false,
    },
    ...traits[name],
    async execute({ job, id }: { job: string; id: string }) {
      // The kernel keeps what was written when the process is killed: this needs no wait for the disk.
      writeSync(ledger, `${JSON.stringify({ job, call: id, tool: name, worker, at: now() } satisfies Executed)}\n`);
      await sleep(toolMs[0] + (toolMs[1] - toolMs[0]) * fraction(job, id));
      return resultOf(job, { id, name });
    },
  });
}

/** Makes a call again for as long as its error says that it may succeed later. */
export async function untilTaken<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if ((error as { retryable?: unknown }).retryable !== true) throw error;
      await sleep(200);
    }
  }
}
