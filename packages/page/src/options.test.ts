import { expect, onTestFinished, test, vi } from "vitest";
import { post, say } from "../testing/server.ts";
import { createAgUiHandler } from "./agUi.ts";
import { createUIHandler } from "./aiSdk.ts";
import { PageSessions } from "./index.ts";

const open = (): undefined => undefined;

test.each<[string, object, string]>([
  ["none", {}, "open must be a function"],
  ["a misspelt name", { open, lingersMs: 1 }, 'unknown option "lingersMs"; did you mean "lingerMs"?'],
  ["an endless wait", { open, lingerMs: Number.POSITIVE_INFINITY }, "from 0 to 2,147,483,647, received Infinity"],
  ["more than a timer takes", { open, lingerMs: 2 ** 31 }, "received 2147483648"],
  ["a time below 0", { open, lingerMs: -1 }, "received -1"],
  ["a text as the time", { open, lingerMs: "5" }, "lingerMs must be a number"],
  ["no bytes", { open, maxBytes: 0 }, "maxBytes must be"],
  ["one origin that is no list", { open, origins: "https://app.example" }, "origins must be an array of origins"],
  ["an origin with a slash", { open, origins: ["https://app.example/"] }, "without a path or a slash"],
  ["a host for an origin", { open, origins: ["app.example"] }, "origins must be an array of origins"],
  ["all origins", { open, origins: ["*"] }, "origins must be an array of origins"],
  ["an explain that is none", { open, explain: "words" }, "explain must be a function"],
])("%s among the options is refused in words", (_what, options, words) => {
  expect(() => new PageSessions(options as { open: typeof open })).toThrow(words);
});

test("options that can be meant are taken", () => {
  const origins = ["https://app.example", "http://localhost:3000", "chrome-extension://abcdef"];
  const options = { open, origins, lingerMs: 0, maxBytes: Number.POSITIVE_INFINITY, explain: undefined };
  expect(new PageSessions(options).options).toEqual(options);
});

test.each([
  [{ pageTools: "pick_color" }, "pageTools must be an array of strings"],
  [{ pageTool: ["pick_color"] }, 'did you mean "pageTools"?'],
])("the options %j of AG-UI are refused in words", (options, words) => {
  expect(() => createAgUiHandler(new PageSessions({ open }), options as object)).toThrow(words);
});

const agent = (): never => {
  throw new Error("made");
};

test.each<[string, object, string]>([
  ["no journal", { agent }, "open: journal must be a non-empty string"],
  ["no agent", { journal: "a.jsonl" }, "open: agent must be a function"],
  [
    "a policy that cannot remember",
    { journal: "a.jsonl", agent, policy: {} },
    "policy must be an object with remember",
  ],
  ["runs without a run", { runs: { get() {}, approve() {}, send() {}, cancel() {} } }, "open: run must be"],
])("a session with %s is refused in words for the log", async (_what, session, words) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const response = await createUIHandler(new PageSessions({ open: () => session as never }))(post(say("hi")));
  expect([response.status, String(log.mock.calls[0]?.[0])]).toEqual([500, expect.stringContaining(words)]);
});
