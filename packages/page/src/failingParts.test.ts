import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, onTestFinished, test, vi } from "vitest";
import { post, say, startServer } from "../testing/server.ts";

test.each<[string, () => void | Promise<void>]>([
  ["rejects", () => Promise.reject(new Error("cannot close"))],
  [
    "throws",
    () => {
      throw new Error("cannot close");
    },
  ],
])("a session whose close %s is left all the same, and its error goes to explain", async (_how, close) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  for (const event of ["unhandledRejection", "uncaughtException"]) {
    const others = process.listeners(event as "exit");
    process.removeAllListeners(event);
    process.on(event, note);
    onTestFinished(() => {
      process.off(event, note);
      for (const other of others) process.on(event, other);
    });
  }
  const explained: string[] = [];
  const explain = (error: unknown): string => String(explained.push(String(error)));
  const server = startServer(temporaryFolder("page"), ["One.", "Two."], { lingerMs: 1, session: { close }, explain });
  await (await server.handle(post(say("hi")))).text();
  await vi.waitUntil(() => explained.length === 1 || unhandled.length > 0);
  await (await server.handle(post(say("hi")))).text();
  await server.sessions.close();
  await vi.waitUntil(() => explained.length === 2 || unhandled.length > 0);
  expect([explained, unhandled]).toEqual([["Error: cannot close", "Error: cannot close"], []]);
  expect(server.agents).toHaveLength(2);
});

test("an explain that throws leaves the page its sentence, and both errors in the log", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const server = startServer(temporaryFolder("page"), [], {
    open: () => Promise.reject(new Error("no database")),
    explain: () => {
      throw new Error("no words");
    },
  });
  const response = await server.handle(post(say("hi")));
  expect([response.status, await response.text()]).toEqual([500, expect.stringMatching(/^Something went wrong/)]);
  expect(log.mock.calls.map(([error]) => String(error))).toEqual(["Error: no words", "Error: no database"]);
});
