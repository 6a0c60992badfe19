import type { ProgramRecords } from "./record.ts";

/** Clients that run what their input says: `.shell` of sqlite3, `\!` of psql and mysql. */
export const databases: ProgramRecords = {
  "cqlsh duckdb influx isql mariadb mongo mongosh mysql psql redis-cli sqlite sqlite3 sqlplus usql": {
    covers: "input",
  },
  "mysqldump pg_dump pg_restore": { covers: "nothing" },
};
