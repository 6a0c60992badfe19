import { expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { serveMcp } from "../server/serveMcp.ts";

test.each([
  [{ auth: null }, /http\.auth must be true or false/],
  [{ auth: 0 }, /http\.auth/],
  [{ auth: "" }, /http\.auth/],
  [{ auth: "false" }, /http\.auth/],
  [{ host: "" }, /http\.host must be an address/],
  [{ host: null }, /http\.host/],
  [{ port: "x" }, /http\.port must be a whole number/],
  [{ port: -1 }, /http\.port/],
  [{ port: null }, /http\.port/],
  [{ token: "" }, /http\.token must be a non-empty string/],
  [{ token: "   " }, /http\.token/],
  [{ token: null }, /http\.token/],
  [{ allowedHosts: "*" }, /http\.allowedHosts must be an array/],
  [{ allowedHosts: ["*"] }, /http\.allowedHosts/],
  [{ allowedHosts: ["tools.example:80"] }, /without a port/],
  [{ allowedOrigins: ["tools.example"] }, /http\.allowedOrigins must be an array of origins/],
  [{ allowedOrigins: ["*"] }, /http\.allowedOrigins/],
  [null, /http/],
  ["", /http/],
])("serving over HTTP with %j is refused before anything listens", async (http, says) => {
  await expect(serveMcp(createFixtureRegistry(), { http: http as never })).rejects.toThrow(says);
});

test.each(["name", "version", "instructions", "onError"])("a %s of another type is refused", async (option) => {
  const options = { http: {}, [option]: 5 };
  await expect(serveMcp(createFixtureRegistry(), options as never)).rejects.toThrow(new RegExp(`${option} must be`));
});
