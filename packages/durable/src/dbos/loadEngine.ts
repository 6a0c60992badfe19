import { randomUUID } from "node:crypto";
import { AgentError } from "@toolcrib/agent";
import { isObject } from "@toolcrib/core/text";
import type { Pool } from "pg";

/** The engine, which is loaded when it is used. Beside its published calls it has those of its parts that this package needs. */
export interface Engine {
  readonly sdk: typeof import("@dbos-inc/dbos-sdk");
  readonly pg: typeof import("pg");
  /** Makes the engine's own tables where they are missing, or older. */
  createTables(url: string, pool: Pool, schemaName: string): Promise<void>;
  /** Stops what the launched engine does by itself every second: workers take turns from its queues, and know when there are some. */
  stopPolling(): Promise<void>;
  /** Takes turns from a queue and runs them; returns whether another worker was in the way. The signal ends waiting for the database. */
  take(queue: QueueLimits, signal: AbortSignal): Promise<boolean>;
  /** Counts the turns of a queue that run here. */
  countRunning(queue: string): number;
  /** Counts how often a turn runs here: twice while one that was lost comes to its end. */
  executionsOf(workflow: string): number;
  /** Resolves once the engine has recorded the end of a turn that runs here. */
  ended(workflow: string): Promise<unknown>;
}

/** The limits of what to take from a queue. */
export interface QueueLimits {
  readonly name: string;
  /** The most turns to take. */
  readonly most: number;
  /** The most turns of one tenant that run at once, in all workers. */
  readonly tenantConcurrency: number | undefined;
}

const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} };

/** The longest wait, in seconds, before the engine tries again what a transient error has ended. */
const longestBackoff = 5;

export async function loadEngine(): Promise<Engine> {
  try {
    const [sdk, pg] = await Promise.all([import("@dbos-inc/dbos-sdk"), import("pg")]);
    const [
      { dbRetryConfig },
      { ensureSystemDatabase },
      { DBOSExecutor },
      { GlobalLogger },
      { WorkflowQueue },
      { runWithAbortableDbRetries },
    ] = await Promise.all([
      import("@dbos-inc/dbos-sdk/internal/utils"),
      import("@dbos-inc/dbos-sdk/internal/system_database"),
      import("@dbos-inc/dbos-sdk/internal/dbos-executor"),
      import("@dbos-inc/dbos-sdk/internal/telemetry/logs"),
      import("@dbos-inc/dbos-sdk/internal/wfqueue"),
      import("@dbos-inc/dbos-sdk/internal/context"),
    ]);
    dbRetryConfig.maxBackoffSec = longestBackoff;
    const running = () => DBOSExecutor.globalInstance?.systemDatabase.runningWorkflowMap;
    return {
      sdk,
      pg,
      async createTables(url, pool, schemaName) {
        // The function behind DBOS.migrate, which writes to standard output and wants the database "postgres".
        await ensureSystemDatabase(url, new GlobalLogger(undefined, { logger: silent }), pool, schemaName, false);
      },
      async stopPolling() {
        await DBOSExecutor.globalInstance?.deactivateEventReceivers();
        await DBOSExecutor.globalInstance?.stopWorkflowTimeoutSweep();
      },
      async take({ name, most, tenantConcurrency }, signal) {
        const executor = DBOSExecutor.globalInstance;
        if (!executor) return false;
        const { systemDatabase: system, executorID } = executor;
        const { applicationVersion } = sdk.DBOS;
        const workerConcurrency = system.countRunningWorkflowsForQueue(name) + most;
        const queue = new WorkflowQueue(
          { ...noLimits, name, workerConcurrency, ...tenantLimit(tenantConcurrency) },
          false,
        );
        const takeSome = async (tenant?: string): Promise<void> => {
          const here = system.countRunningWorkflowsForQueue(name);
          const owner = randomUUID();
          const args = [queue, executorID, applicationVersion, tenant, here, 0, owner] as const;
          await executor.dispatchDequeuedWorkflows(await system.findAndMarkStartableWorkflows(...args), owner);
        };
        let isHindered = false;
        await runWithAbortableDbRetries(signal, async () => {
          // Without a limit for tenants the queue is one. Another order each time, so that every tenant comes first at times.
          const tenants = tenantConcurrency === undefined ? [undefined] : await system.getQueuePartitions(name);
          for (const tenant of tenants.toSorted(() => Math.random() - 0.5))
            await takeSome(tenant).catch((error: unknown) => {
              if (!isContention(error)) throw error;
              isHindered = true;
            });
        });
        return isHindered;
      },
      countRunning: (queue) => DBOSExecutor.globalInstance?.systemDatabase.countRunningWorkflowsForQueue(queue) ?? 0,
      executionsOf: (workflow) => running()?.get(workflow)?.length ?? 0,
      ended: async (workflow) => await running()?.get(workflow)?.at(0)?.promise,
    };
  } catch (cause) {
    if (!isObject(cause) || cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new AgentError({
      code: "missing_sdk",
      message:
        "Durable runs on DBOS need the packages @dbos-inc/dbos-sdk and pg, which are not both installed. Run: npm install @dbos-inc/dbos-sdk@5.3 pg",
      cause,
    });
  }
}

const noLimits = {
  concurrency: null,
  rateLimitMax: null,
  rateLimitPeriodSec: null,
  partitionWorkerConcurrency: null,
  partitionRateLimitMax: null,
  partitionRateLimitPeriodSec: null,
  pollingIntervalSec: 1,
};

/** Limits a tenant, which the engine knows as a partition of a queue. */
function tenantLimit(concurrency: number | undefined): {
  partitionConcurrency: number | null;
  partitionQueue: boolean;
} {
  return { partitionConcurrency: concurrency ?? null, partitionQueue: concurrency !== undefined };
}

/** Returns whether another worker takes from the same queue at this moment. */
function isContention(error: unknown): boolean {
  return isObject(error) && (error.code === "40001" || error.code === "55P03");
}

/** Values of steps as plain JSON: any key is data, and nothing has a form of its own. */
export const plainJson = {
  name: (): string => "toolcrib_json",
  stringify: (value: unknown): string => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text == null ? null : JSON.parse(text)),
};
