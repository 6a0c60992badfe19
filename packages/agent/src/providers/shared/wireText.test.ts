import { expect, test } from "vitest";
import { parseArguments } from "../../conversation/parseArguments.ts";
import { memoize } from "../../memoize.ts";
import type { Message } from "../../messages.ts";
import { loadSdk } from "./loadSdk.ts";
import { argumentsText, wireId, wireName } from "./wireText.ts";

test("no arguments mean an empty object, an object is used as it is, anything else is malformed", () => {
  for (const none of ["", "  ", "null", undefined, null]) expect(parseArguments(none)).toEqual({ args: {} });
  expect(parseArguments({ a: 1 })).toEqual({ args: { a: 1 } });
  expect(parseArguments('{"__proto__":{"x":1}}').args).toHaveProperty(["__proto__"], { x: 1 });
  for (const odd of ['{"a":', "[1]", "5", '"{}"', "true", "{} {}"]) {
    expect(parseArguments(odd)).toEqual({ args: {}, malformed: expect.stringContaining("expected a JSON object") });
  }
});

test("arguments nested too deep to be sent back are malformed", () => {
  const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  expect(parseArguments(deep).malformed).toBeDefined();
});

test("malformed arguments are quoted only in part", () => {
  expect(parseArguments(`{"a": "${"x".repeat(10_000)}`).malformed?.length).toBeLessThan(400);
});

test("ids and names that a wire forbids are replaced, always by the same and by distinct ones", () => {
  expect(wireId("call_1-a")).toBe("call_1-a");
  const odd = ["functions.read:0", "functions.read:1", "functions read:0", "", "x".repeat(65), "日本"];
  const cleaned = odd.map(wireId);
  expect(new Set(cleaned).size).toBe(odd.length);
  for (const id of cleaned) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(odd.map(wireId)).toEqual(cleaned);
  expect(wireName("functions.read_file")).toBe("functions_read_file");
  expect(wireName("")).toBe("unknown");
});

test("arguments are sent with lone surrogates replaced in keys and values", () => {
  expect(argumentsText({ "\ud83d": ["\udc00", { ok: "🦀" }], ["__proto__"]: 1 })).toBe(
    '{"\ufffd":["\ufffd",{"ok":"🦀"}],"__proto__":1}',
  );
});

test("a missing SDK is an error that names the install command, and any other failure stays", async () => {
  const missing = Object.assign(new Error("none"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(loadSdk("openai", () => Promise.reject(missing))).rejects.toMatchObject({
    code: "missing_sdk",
    message: expect.stringMatching(/Run: npm install openai$/),
  });
  await expect(loadSdk("openai", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

test("a message is mapped once", () => {
  let count = 0;
  const map = memoize(() => {
    count += 1;
    return [];
  });
  const message: Message = { role: "user", content: [] };
  expect(map(message)).toBe(map(message));
  expect(count).toBe(1);
});
