import { expect, test } from "vitest";
import { isLoopback } from "../loopback.ts";
import { createRequestCheck } from "./checkRequest.ts";

const request = (headers: Record<string, string>): Request =>
  new Request("http://localhost/mcp", { method: "POST", headers: { host: "localhost:80", ...headers } });

test("the token is compared whole, its scheme in any case", () => {
  const guard = createRequestCheck([], "secret");
  const status = (authorization: string): number | undefined => guard(request({ authorization }))?.status;
  expect(status("Bearer secret")).toBeUndefined();
  expect(status("bearer secret")).toBeUndefined();
  for (const wrong of ["", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "secret", "Basic secret"]) {
    expect(status(wrong)).toBe(401);
  }
});

test("accepted hosts are those of this machine and those of the option, at any port", () => {
  const guard = createRequestCheck(["tools.example", "[fd00::1]"], undefined);
  const status = (headers: Record<string, string>): number | undefined => guard(request(headers))?.status;
  for (const host of ["localhost:1", "127.0.0.1", "[::1]:80", "tools.example:8443", "[fd00::1]"]) {
    expect(status({ host })).toBeUndefined();
    expect(status({ host, origin: new URL(`http://${host}`).origin })).toBeUndefined();
  }
  for (const host of ["evil.example", "tools.example.evil.example", "localhost.evil.example", "0.0.0.0"]) {
    expect(status({ host })).toBe(403);
    expect(status({ origin: `http://${host}` })).toBe(403);
  }
  expect(status({ origin: "null" })).toBe(403);
  expect(status({ origin: "file://" })).toBe(403);
});

test("an accepted origin is the server's own (scheme, host and port) or one of the option", () => {
  const guard = createRequestCheck(["tools.example"], undefined, ["https://tools.example"]);
  const status = (headers: Record<string, string>): number | undefined => guard(request(headers))?.status;
  const host = "localhost:8123";
  for (const origin of ["http://localhost:8123", "https://tools.example"]) {
    expect(status({ host, origin })).toBeUndefined();
  }
  for (const origin of [
    "http://localhost:3000",
    "http://localhost",
    "https://localhost:8123",
    "http://127.0.0.1:8123",
    "http://tools.example",
    "https://tools.example:8443",
    "http://user@localhost:8123",
    "",
  ]) {
    expect(status({ host, origin }), origin).toBe(403);
  }
  expect(status({ host: "tools.example", origin: "http://tools.example" })).toBeUndefined();
});

test("only addresses of this machine are loopback", () => {
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "::1"]) expect(isLoopback(host)).toBe(true);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "1127.0.0.1", ""]) {
    expect(isLoopback(host)).toBe(false);
  }
});
