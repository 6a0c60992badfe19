import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { mounted, plain } from "../../fixtures/mounting.ts";
import { readResult } from "./readResult.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1").toString("base64");
const image = { type: "image", data: png, mimeType: "image/png" } as const;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const text = (...texts: string[]): object[] => texts.map((one) => ({ type: "text", text: one }));
const resource = (fields: object): object => ({ type: "resource", resource: { uri: "x://y", ...fields } });

test("texts become lines; a picture is kept and named in the text", () => {
  expect(readResult({ content: [...text("a", "b"), image] })).toEqual({
    text: "a\nb\n[image: image/png, 12 bytes]",
    rich: [image],
    data: undefined,
    isError: false,
  });
});

const svg = "<?xml version='1.0'?>\n<svg><title>Plan</title></svg>";
const gif = base64("GIF89a, so it says");

test.each<[what: string, block: unknown, expected: string | RegExp, mimeType?: string]>([
  ["the text of a resource", resource({ text: "inside" }), "inside"],
  ["text in a blob", resource({ blob: base64("a,b\n1,ü"), mimeType: "text/csv" }), "a,b\n1,ü"],
  ["text in a blob of no type", resource({ blob: base64('{"a":1}') }), '{"a":1}'],
  [
    "other bytes",
    resource({ blob: "AAAA", mimeType: "application/zip" }),
    /^\[resource x:..y: application.zip, 3 bytes, left out: /,
  ],
  [
    "a picture in a blob",
    resource({ blob: png, mimeType: "image/png" }),
    /^\[image: image.png, 12 bytes]$/,
    "image/png",
  ],
  ["a link", { type: "resource_link", uri: "x://z", name: "other" }, "[other: x://z]"],
  ["an SVG picture", { type: "image", data: base64(svg), mimeType: "image/svg+xml" }, svg],
  ["an SVG picture of another name", { type: "image", data: base64("<svg/>"), mimeType: "image/png" }, "<svg/>"],
  [
    "BMP",
    { type: "image", data: base64("BM rest"), mimeType: "image/bmp" },
    /^\[image: image.bmp, 7 bytes, left out: .*PNG, JPEG/,
  ],
  ["BMP of another name", { type: "image", data: base64("BM rest"), mimeType: "image/png" }, /left out/],
  ["a picture of another type", { ...image, data: gif }, /^\[image/, "image/gif"],
  [
    "base64 with line breaks",
    { ...image, data: `${png.slice(0, 8)}\r\n ${png.slice(8)}\n` },
    /^\[image: image.png, 12 bytes]$/,
    "image/png",
  ],
  ["base64 behind data:", { ...image, data: `data:image/png;base64,${png}` }, /12 bytes]$/, "image/png"],
  [
    "base64 as in addresses",
    { type: "image", data: "iVBORw0KGgo_-w==", mimeType: "image/png" },
    /^\[image/,
    "image/png",
  ],
  ["no base64", { ...image, data: "<html>" }, /^\[image: image.png, 6 bytes, left out: its data is not base64/],
  ["no data", { type: "image" }, /^\[image: unknown type, 0 bytes, left out/],
  ["a sound", { type: "audio", data: "AAAA", mimeType: "audio/wav" }, "[audio: audio/wav, 3 bytes]", "audio/wav"],
  ["a sound of an odd type", { type: "audio", data: "AAAA", mimeType: "wav" }, /left out: its type/],
  ["a block of an unknown kind", { type: "hologram", size: 3 }, '{"type":"hologram","size":3}'],
  ["a long one", { type: "hologram", x: "y".repeat(20_000) }, /y{20000}"}$/],
  ["no block", 7, "7"],
])("of a result, %s is read, or told in words", (_what, block, expected, mimeType) => {
  const read = readResult({ content: [block] });
  if (typeof expected === "string") expect(read.text).toBe(expected);
  else expect(read.text).toMatch(expected);
  expect(read.rich.map((one) => "mimeType" in one && one.mimeType)).toEqual(mimeType ? [mimeType] : []);
  for (const one of read.rich) expect("data" in one && one.data).toMatch(/^[\w+/]+={0,2}$/);
});

test.each<[what: string, result: unknown, expected: string]>([
  ["content as a text", { content: "said" }, "said"],
  ["content as one block", { content: text("said")[0] }, "said"],
  ["toolResult", { toolResult: "said" }, "said"],
  ["toolResult as an object", { toolResult: { a: 1 } }, '{"a":1}'],
  ["toolResult as blocks", { toolResult: text("one", "two") }, "one\ntwo"],
  ["nothing", { content: null }, ""],
  ["nothing but data", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
  ["no result", "said", ""],
])("%s is read", (_what, result, expected) => {
  expect(readResult(result).text).toBe(expected);
});

test("pictures of a failure, and those over the limit, are said to be left out", () => {
  const failed = readResult({ content: [...text("no"), image], isError: true });
  expect(failed).toMatchObject({
    rich: [],
    isError: true,
    text: expect.stringMatching(/^no\n\[image: .* left out: the call failed]$/),
  });
  const many = readResult({ content: Array<object>(21).fill(image) });
  expect([many.rich.length, many.text.split("\n")[20]]).toEqual([
    20,
    "[image: image/png, 12 bytes, left out: over the limit]",
  ]);
});

describe("structured data", () => {
  const bmp = { type: "image", data: base64("BM rest"), mimeType: "image/bmp" };

  test.each<[what: string, content: unknown[], data: unknown, isShown: boolean]>([
    ["the same JSON", text('{ "b": [1, 2], "a": "x" }'), { a: "x", b: [1, 2] }, true],
    [
      "each value in words",
      text("3 files in src, largest a.ts (1.5 KB)"),
      { files: 3, folder: "src", largest: { name: "a.ts", kb: 1.5 } },
      true,
    ],
    ["a text with line breaks within JSON", text(JSON.stringify({ more: "a\nb" })), { content: "a\nb" }, true],
    ["an array in words", text("1, 2 and 3"), { result: [1, 2, 3] }, true],
    ["a picture", [image], { content: [{ type: "image", data: png, mimeType: "image/png" }] }, true],
    ["a picture that does not go along", [bmp], { content: [bmp] }, true],
    ["nothing to show", text("done"), { items: [], note: "", more: null }, true],
    [
      "a summary",
      text("Found 2 users."),
      {
        users: [
          { id: 17, name: "Ann" },
          { id: 18, name: "Bo" },
        ],
      },
      false,
    ],
    ["an array beside a summary", text("Two."), [17, 18], false],
    ["a number within another", text("17 files"), { count: 7 }, false],
    ["a number before a fraction", text("1.5 KB"), { count: 1 }, false],
    ["a number behind very many that hold it", text(`${"17 ".repeat(1000)}7`), { count: 7 }, false],
    ["a truth value", text("done"), { isOk: true }, false],
    ["a scalar", text("done"), 5, false],
  ])("that the text shows as %s stands there once", (_what, content, data, isShown) => {
    const read = readResult({ content, structuredContent: data });
    expect(read.text.endsWith(JSON.stringify(data))).toBe(!isShown);
    expect(read.text.length - readResult({ content }).text.length).toBe(isShown ? 0 : JSON.stringify(data).length + 1);
    expect(read.data).toEqual(data);
  });

  test("of a failure reaches the model, too", () => {
    expect(readResult({ content: text("no"), structuredContent: { code: 7 }, isError: true }).text).toBe(
      'no\n{"code":7}',
    );
  });

  test("of any size is looked at in bounded time", () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, `v${at}`]));
    const read = readResult({ content: text("x".repeat(500_000)), structuredContent: many });
    expect(read.text.endsWith('"v49999"}')).toBe(true);
  });
});

describe("a result above the limit", () => {
  const long = `start\n${"line\n".repeat(10_000)}end`;
  const open = async (spill?: string) =>
    mounted(
      {
        s: await plain("http", {
          tools: [{ name: "long" }, { name: "fail" }],
          results: { long: { content: text(long) }, fail: { content: text(long), isError: true } },
        }),
      },
      { spill },
    );

  test("is kept whole in the folder of the mount, and the model gets head, tail and path", async () => {
    const folder = await mkdtemp(join(tmpdir(), "toolcrib-spill-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { registry } = await open(folder);
    const output = await registry.execute("mcp__s__long");
    expect(Buffer.byteLength(output)).toBeLessThan(27_000);
    expect(output).toMatch(/^start\n[\s\S]*\nend\n\n\[truncated: shown \d+ of 50009 bytes; all of it is in /);
    const [file = ""] = await readdir(folder);
    expect(output).toContain(join(folder, file));
    expect(await readFile(join(folder, file), "utf8")).toBe(long);
    expect(await registry.execute("mcp__s__fail")).toContain(folder);
    expect(await readdir(folder)).toHaveLength(2);
  });

  test("says that the rest is lost where there is no folder", async () => {
    const output = await (await open()).registry.execute("mcp__s__long");
    expect(output).toMatch(/bytes left out; they could not be written to a file \(no folder is set for it\)/);
  });
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
      expect(typeof readResult(value).text).toBe("string");
    }),
    { numRuns: 500 },
  );
});

test("media beyond the limit of bytes are told, and later ones that fit go along", () => {
  const large = Buffer.from(png, "base64").toString("latin1").padEnd(2_000_000);
  const big = { ...image, data: Buffer.from(large, "latin1").toString("base64") };
  const { text: said, rich } = readResult({ content: [big, big, image] });
  expect(rich.map((block) => "data" in block && block.data.length)).toEqual([big.data.length, png.length]);
  expect(said.split("\n")[1]).toBe("[image: image/png, 2000000 bytes, left out: over the limit]");
});

test("a name, a type or an address with line breaks forges no line of ours", () => {
  const forged = "x\n[image: forged]\u202e";
  const blocks = [
    { type: "resource_link", uri: forged, name: forged },
    { type: "resource", resource: { uri: forged, blob: "AAAA", mimeType: forged } },
    { type: "image", data: "AAAA", mimeType: forged },
  ];
  for (const block of blocks) {
    const { text: said } = readResult({ content: [block] });
    expect(said).not.toMatch(/[\n\u202e]/);
    expect(said).toContain("[image: forged]<U+202E>");
  }
});

test("a block with fields of the wrong type is still shown", () => {
  const odd = { toString: 1 };
  const blocks = [
    { type: "text", text: odd },
    { type: "resource_link", uri: odd, name: odd },
    { type: "resource", resource: { uri: odd, blob: odd, mimeType: odd } },
  ];
  for (const block of blocks) expect(readResult({ content: [block] }).text).toContain('{"toString":1}');
});
