import { AgentError } from "@toolcrib/agent";
import type { Pool } from "pg";

/** The engine, which is loaded when it is used. */
export interface Engine {
  readonly sdk: typeof import("@dbos-inc/dbos-sdk");
  readonly pg: typeof import("pg");
  /** Makes the engine's own tables where they are missing. */
  createTables(url: string, pool: Pool, schemaName: string): Promise<void>;
  /** No further turn comes from the queues. */
  stopQueues(): Promise<void>;
}

const silent = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} };

export async function loadEngine(): Promise<Engine> {
  try {
    const [sdk, pg] = await Promise.all([import("@dbos-inc/dbos-sdk"), import("pg")]);
    return {
      sdk,
      pg,
      async createTables(url, pool, schemaName) {
        // What DBOS.migrate calls, which writes to standard output and wants the database "postgres".
        const { ensureSystemDatabase } = await import("@dbos-inc/dbos-sdk/internal/system_database");
        const { GlobalLogger } = await import("@dbos-inc/dbos-sdk/internal/telemetry/logs");
        await ensureSystemDatabase(url, new GlobalLogger(undefined, { logger: silent }), pool, schemaName, false);
      },
      async stopQueues() {
        // The first thing that DBOS.shutdown does.
        const { DBOSExecutor } = await import("@dbos-inc/dbos-sdk/internal/dbos-executor");
        await DBOSExecutor.globalInstance?.deactivateEventReceivers();
      },
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new AgentError({
      code: "missing_sdk",
      message:
        "Durable runs on DBOS need the packages @dbos-inc/dbos-sdk and pg, which are not both installed. Run: npm install @dbos-inc/dbos-sdk@5.3 pg",
      cause,
    });
  }
}

/** Values of steps as plain JSON: any key is data, and nothing has a form of its own. */
export const plainJson = {
  name: (): string => "toolcrib_json",
  stringify: (value: unknown): string => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text == null ? null : JSON.parse(text)),
};
