import type { Answers, PendingCall } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { expect, test } from "vitest";
import {
  checkAgents,
  checkAnswers,
  checkListOptions,
  checkMessage,
  checkName,
  checkPending,
  checkResultOptions,
  checkRunId,
  checkStartOptions,
  checkText,
} from "./checkInput.ts";

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const provider = new ScriptedProvider([]);
const blocks = [{ type: "text", text: "Hello." }];

test.each<[check: (value: never) => void, taken: readonly unknown[], refused: readonly unknown[]]>([
  [(name) => checkName("A name", name), ["a", "a::2", "\u00e9\ud83d\ude00"], ["", " ", "a\u0000", "\ud800", 7, null]],
  [checkRunId, ["order:17", "x".repeat(200)], ["a::2", "x".repeat(201), undefined, {}]],
  [checkMessage, ["Hello.", blocks], ["", " ", 7, [], [7], [{}], [{ ...blocks[0], more: cyclic }]]],
  [checkText, ["Hello."], ["", " ", 7, undefined, blocks]],
  [
    checkAnswers,
    [{ a: true }, { a: "no" }, { a: { args: {} } }, { a: { output: "x" } }],
    [{}, [], null, "yes", { a: 1 }, { a: { output: 5 } }, { a: { args: cyclic } }],
  ],
  [
    checkStartOptions,
    [{}, { id: "a", tenant: "t", priority: -1e6, labels: { user: 7 } }],
    [
      ...["x", { ID: "x" }, { id: "" }, { id: null }, { tenant: "" }],
      ...[0.5, Number.NaN, 1e6 + 1, "1"].map((priority) => ({ priority })),
      ...[[], cyclic, { n: 1n }].map((labels) => ({ labels })),
    ],
  ],
  [
    checkListOptions,
    [{}, { status: "done", limit: 1, after: { id: "a", createdAt: new Date() } }],
    [
      ...[{ status: "gone" }, { limit: 0 }, { limit: "1" }, { tenants: "a" }],
      ...[{}, "r1", { id: "r1", createdAt: "yesterday" }, { id: "r1", createdAt: new Date(Number.NaN) }].map(
        (after) => ({
          after,
        }),
      ),
    ],
  ],
  [checkResultOptions, [{}, { signal: new AbortController().signal }], [{ signal: {} }]],
  [
    checkAgents,
    [{}, { a: { provider } }, { a: () => ({ provider }) }],
    [[], { "": { provider } }, { a: {} }, { a: { provider: {} } }, { a: { provider, journal: "x" } }],
  ],
])("%o takes what fits, and refuses the rest in words", (check, taken, refused) => {
  for (const value of taken) expect(() => check(value as never), String(value)).not.toThrow();
  for (const value of refused)
    expect(() => check(value as never), String(value)).toThrow(expect.objectContaining({ code: "invalid_option" }));
});

test("answers are only for calls that wait, and a question that needs words takes no yes", () => {
  const pending = [{ callId: "a", question: { text: "Which?", needs: "output" } }] as never;
  const check = (answers: Answers) => () => checkPending(answers, pending);
  expect(check({ a: { output: "b" } })).not.toThrow();
  expect(check({ a: "not now" })).not.toThrow();
  expect(check({ b: true })).toThrow("waiting are a");
  for (const answer of [true, { args: {} }]) expect(check({ a: answer })).toThrow("a yes is not enough");
});

test("an answer for several calls is one to a question of a program that offers a folder", () => {
  const call = { callId: "c:1", name: "write", args: {}, question: { text: "Write?", data: { upTo: "/box" } } };
  const check = (pending: PendingCall) => () => checkPending({ "c:1": { upTo: 3 } }, [pending]);
  expect(check({ ...call, within: "c" })).not.toThrow();
  for (const pending of [call, { ...call, within: "c", question: { text: "Write?" } }])
    expect(check(pending)).toThrow('The question about "c:1" offers no folder for more calls');
  for (const upTo of [0, 1.5, 1001]) expect(() => checkAnswers({ "c:1": { upTo } })).toThrow("{ output } or { upTo }");
});
