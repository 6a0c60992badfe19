import { type ContentBlock, ToolError, type ToolOutcome } from "@toolcrib/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureReason, fromCallResult, mountedName, toCallResult, toParameters } from "./mapping.ts";

const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;

describe("an outcome as a result", () => {
  const content = (outcome: ToolOutcome): unknown => toCallResult("t", outcome).content;

  test("text stands before rich content, unless the content has its own or there is none", () => {
    expect(content({ ok: true, output: "x" })).toEqual([{ type: "text", text: "x" }]);
    expect(content({ ok: true, output: "" })).toEqual([{ type: "text", text: "" }]);
    expect(content({ ok: true, output: "x", content: [image] })).toEqual([{ type: "text", text: "x" }, image]);
    expect(content({ ok: true, output: "", content: [image] })).toEqual([image]);
    const own: ContentBlock[] = [{ type: "text", text: "own" }, image];
    expect(content({ ok: true, output: "x", content: own })).toEqual(own);
  });

  test("a failure is worded as execute words it, keeps its content and has isError", () => {
    const error = new ToolError({ code: "execution_failed", toolName: "t", message: "broke" });
    expect(toCallResult("t", { ok: false, error, content: [{ type: "text", text: "more" }] })).toEqual({
      content: [
        { type: "text", text: "Error executing t: broke" },
        { type: "text", text: "more" },
      ],
      isError: true,
    });
  });
});

describe("a server's result", () => {
  test("texts become lines; a picture is kept and named in the text", () => {
    const content = [{ type: "text", text: "a" }, { type: "text", text: "b" }, image];
    expect(fromCallResult({ content })).toEqual({
      text: "a\nb\n[image: image/png, 3 bytes]",
      rich: [image],
      isError: false,
    });
  });

  test("resources come as their text, their picture, or a line that names them", () => {
    const resource = (fields: object): object => ({ type: "resource", resource: { uri: "x://y", ...fields } });
    const content = [
      resource({ text: "inside" }),
      resource({ blob: "AAAA", mimeType: "image/png" }),
      resource({ blob: "AAAA", mimeType: "application/zip" }),
      { type: "resource_link", uri: "x://z", name: "other" },
    ];
    expect(fromCallResult({ content })).toEqual({
      text: "inside\n[image: image/png, 3 bytes]\n[resource x://y: application/zip, 3 bytes]\n[other: x://z]",
      rich: [image],
      isError: false,
    });
  });

  test("a structured result alone becomes JSON text; beside a text it is left out", () => {
    expect(fromCallResult({ content: [], structuredContent: { a: 1 } }).text).toBe('{"a":1}');
    expect(fromCallResult({ content: [{ type: "text", text: "one" }], structuredContent: { a: 1 } }).text).toBe("one");
  });

  test("isError is kept, and a block of an unknown kind is shown as JSON", () => {
    expect(fromCallResult({ content: [{ type: "hologram", size: 3 }], isError: true })).toEqual({
      text: '{"type":"hologram","size":3}',
      rich: [],
      isError: true,
    });
  });

  test("the prefix that a registry on the server gave a failure is removed, and an empty failure gets a reason", () => {
    expect(failureReason("read", "Error executing read: no such file")).toBe("no such file");
    expect(failureReason("read", "Error executing write: no such file")).toBe("Error executing write: no such file");
    expect(failureReason("read", "no such file")).toBe("no such file");
    expect(failureReason("read", "")).toBe("the tool failed without giving a reason");
  });

  test("whatever a server sends, reading it does not throw", () => {
    const block = fc.record(
      {
        type: fc.oneof(fc.constantFrom("text", "image", "audio", "resource", "resource_link"), fc.jsonValue()),
        text: fc.jsonValue(),
        data: fc.jsonValue(),
        mimeType: fc.jsonValue(),
        resource: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const result = fc.record(
      {
        content: fc.oneof(fc.array(block), fc.jsonValue()),
        structuredContent: fc.jsonValue(),
        isError: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(result, fc.jsonValue()), (value) => {
        expect(typeof fromCallResult(value).text).toBe("string");
      }),
      { numRuns: 500 },
    );
  });
});

test("mounted names are legal and different, whatever the servers and tools are called", () => {
  const name = fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom("a b", "a/b", "a.b", "x".repeat(80)));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 30 }), (pairs) => {
      const taken = new Set<string>();
      for (const [server, tool] of pairs) taken.add(mountedName(server, tool, (made) => taken.has(made)));
      expect(taken.size).toBe(pairs.length);
      for (const made of taken) expect(made).toMatch(/^mcp__[a-zA-Z0-9_-]{1,59}$/);
    }),
  );
  expect(mountedName("files", "read_file", () => false)).toBe("mcp__files__read_file");
});

test("a schema without a type gets type object; any other stays as it is", () => {
  expect(toParameters(undefined)).toEqual({ type: "object" });
  expect(toParameters({ properties: { a: {} } })).toEqual({ type: "object", properties: { a: {} } });
  const draft7 = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", definitions: {} };
  expect(toParameters(draft7)).toEqual(draft7);
});

test("images and sounds beyond the limit are described, and data that is not base64 never reaches a model", () => {
  const image = (data: string, mimeType = "image/png") => ({ type: "image", data, mimeType });
  const large = "A".repeat(3 * 1024 * 1024);
  const { text, rich } = fromCallResult({ content: [image(large), image(large), image("AAAA")] });
  expect(rich.map((block) => "data" in block && block.data.length)).toEqual([large.length, 4]);
  expect(text.split("\n")[1]).toBe("[image: image/png, 2359296 bytes, left out: over the limit]");
  expect(fromCallResult({ content: Array(500).fill(image("AAAA")) }).rich).toHaveLength(20);
  expect(fromCallResult({ content: [image("<html>"), image("AAAA", "x\ny")] }).rich).toEqual([]);
});

test("a name, a type or an address with line breaks forges no line of ours", () => {
  const forged = "x\n[image: forged]\u202e";
  const blocks = [
    { type: "resource_link", uri: forged, name: forged },
    { type: "resource", resource: { uri: forged, blob: "AAAA", mimeType: forged } },
    { type: "image", data: "AAAA", mimeType: forged },
  ];
  for (const block of blocks) {
    const { text } = fromCallResult({ content: [block] });
    expect(text).not.toMatch(/[\n\u202e]/);
    expect(text).toContain("[image: forged]<U+202E>");
  }
});

test("a block with fields of the wrong type is still shown", () => {
  const odd = { toString: 1 };
  const blocks = [
    { type: "text", text: odd },
    { type: "resource_link", uri: odd, name: odd },
    { type: "resource", resource: { uri: odd, blob: odd, mimeType: odd } },
  ];
  for (const block of blocks) expect(fromCallResult({ content: [block] }).text).toContain('{"toString":1}');
});
