import { expect, test } from "vitest";
import { mountMcp } from "./mountMcp.ts";

test.each([
  [{ timeoutMs: 0 }, /timeoutMs must be a number above 0, received 0; leave it out/],
  [{ timeoutMs: "1" }, /timeoutMs/],
  [{ startTimeoutMs: Number.NaN }, /startTimeoutMs/],
  [{ accept: true }, /accept must be a function/],
  [{ store: null }, /store must be an object with load and save/],
  [{ stores: 1 }, /did you mean "store"\?/],
  [{ signal: {} }, /signal must be an AbortSignal/],
  [{ trust: "all" }, /trust must be an array/],
  [{ clientName: 1 }, /clientName must be a string/],
])("mountMcp refuses %j before a server is started", async (options, says) => {
  await expect(mountMcp({ mcpServers: {} }, options as never)).rejects.toThrow(says);
});
