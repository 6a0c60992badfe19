import { expect, test } from "vitest";
import { isTransient } from "./retry.ts";

const sqlError = (code: string, severity = "ERROR"): Error => Object.assign(new Error("said"), { code, severity });

test.each([
  ["a server that is read-only while it fails over", "25006"],
  ["a query that was cancelled, or took longer than statement_timeout", "57014"],
  ["a server that stops, crashes, starts or loses its database", "57P01", "57P02", "57P03", "57P04", "57P05"],
  ["a transaction that paused for too long, or was ended by its own time limit", "25P03", "25P04"],
  ["a connection that broke", "08000", "08003", "08006", "08P01"],
  ["a conflict with another transaction, and a deadlock", "40001", "40P01"],
  ["a server without memory, disk or connections", "53100", "53200", "53300"],
  ["a lock that is not available", "55P03"],
  ["a disk that fails below PostgreSQL", "58030"],
  ["a password or a database that is not there for a while", "28P01", "3D000"],
])("%s may be over later", (_, ...codes) => {
  for (const code of codes) expect(isTransient(sqlError(code)), code).toBe(true);
});

test.each([
  ["data that the statement got wrong", "22021", "22P02", "23505", "23514"],
  ["syntax and rights", "42601", "42P01", "42501"],
  ["a limit of the program, and an internal error", "54000", "XX000", "XX001"],
])("%s will be there again", (_, ...codes) => {
  for (const code of codes) expect(isTransient(sqlError(code)), code).toBe(false);
});

test("what ends the connection is not the fault of the statement, whatever its class", () => {
  expect(isTransient(sqlError("XX000", "FATAL"))).toBe(true);
});

test("a server that cannot be reached may be reached later, and an error of anybody else's is not one of the database", () => {
  for (const code of ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH"])
    expect(isTransient(sqlError(code)), code).toBe(true);
  for (const code of ["ENOENT", "EACCES", "rate_limit"]) expect(isTransient(sqlError(code)), code).toBe(false);
  for (const thrown of [undefined, null, "ECONNRESET", new Error("no"), {}]) expect(isTransient(thrown)).toBe(false);
});
