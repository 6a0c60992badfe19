import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "@toolcrib/testing/postgres";
import pg from "pg";
import type { Fleet } from "./fleet.ts";
import { fraction } from "./plan.ts";

/** Faults beside kills, each every so many milliseconds; once, for `readOnlyMs`. */
export interface Faults {
  /** The server crashes and starts again. */
  readonly restartEveryMs?: number;
  /** The server takes no writes for so long, as one that fails over. */
  readonly readOnlyMs?: number;
  /** All connections of a worker break. */
  readonly cutEveryMs?: number;
  /** Cancels all queries of the workers' connections. */
  readonly cancelEveryMs?: number;
  /** A worker sleeps for twice its lease, and its connections break. */
  readonly sleepEveryMs?: number;
}

interface Stage {
  readonly server: PostgresServer;
  readonly fleet: Fleet;
}

/** The start of the read-only phase. */
const readOnlyAfterMs = 8_000;

/** Causes faults until the signal is aborted; resolves to how often each happened. */
export async function causeFaults(
  { server, fleet }: Stage,
  {
    faults = {},
    seed,
    leaseMs,
  }: { readonly faults?: Faults | undefined; readonly seed: number; readonly leaseMs: number },
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const happened: Record<string, number> = {};
  let turn = 0;
  const anyWorker = (): string => {
    turn += 1;
    return fleet.workers[Math.floor(fraction(seed, "fault", turn) * fleet.workers.length)] ?? "";
  };
  const cut = (name: string): Promise<unknown> =>
    tell(server, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`);
  const every = async (what: string, ms: number | undefined, cause: () => Promise<unknown>): Promise<void> => {
    while (ms !== undefined && !signal.aborted) {
      await sleep(ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Another fault may have taken the server away.
      const isDone = await cause().then(
        () => true,
        () => false,
      );
      if (isDone) happened[what] = (happened[what] ?? 0) + 1;
    }
  };
  const readOnly = async (ms: number | undefined): Promise<void> => {
    if (ms === undefined) return;
    await sleep(readOnlyAfterMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await setReadOnly(server, true);
    await sleep(ms);
    await setReadOnly(server, false);
    happened["read-only phases"] = 1;
  };
  const active = "application_name like 'worker%' and state <> 'idle'";
  await Promise.all([
    every("restarts", faults.restartEveryMs, () => server.restart()),
    every("cut connections", faults.cutEveryMs, () => cut(anyWorker())),
    every("cancelled queries", faults.cancelEveryMs, () =>
      tell(server, `select pg_cancel_backend(pid) from pg_stat_activity where ${active}`),
    ),
    every("sleeps", faults.sleepEveryMs, async () => {
      const name = anyWorker();
      await fleet.sleep(name, 2 * leaseMs, () => cut(name).catch(() => undefined));
    }),
    readOnly(faults.readOnlyMs),
  ]);
  return happened;
}

async function setReadOnly(server: PostgresServer, isReadOnly: boolean): Promise<void> {
  for (let isSet = false; !isSet; ) {
    isSet = await tell(server, `alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`).then(
      () => true,
      () => false,
    );
    if (!isSet) await sleep(100);
  }
  await tell(server, "select pg_reload_conf()");
}

/** Runs a statement on a connection of its own, which may write whatever the server's default is. */
async function tell(server: PostgresServer, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("set default_transaction_read_only = off");
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
