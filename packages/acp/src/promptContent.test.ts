import { expect, test } from "vitest";
import { fenced, textOfPrompt, toUserContent } from "./promptContent.ts";

const picture = { data: "aGk=", mimeType: "image/png" };

test("text and pictures go to the model as they are", () => {
  expect(
    toUserContent([
      { type: "text", text: "hi" },
      { type: "image", ...picture },
    ]),
  ).toEqual([
    { type: "text", text: "hi" },
    { type: "image", ...picture },
  ]);
});

test("a file that is linked or put in is named by the path that tools take", () => {
  const content = toUserContent([
    { type: "resource_link", name: "a b.ts", uri: "file:///work/a%20b.ts#L3:9" },
    { type: "resource", resource: { uri: "file:///work/c.ts", text: "x\n```\ny" } },
    { type: "resource", resource: { uri: "zed:///rules/1", text: "rule" } },
  ]);
  expect(content.map((block) => (block.type === "text" ? block.text : block.type))).toEqual([
    "[a b.ts](/work/a b.ts #L3:9)",
    "/work/c.ts:\n````\nx\n```\ny\n````",
    "zed:///rules/1:\n```\nrule\n```",
  ]);
});

test("what is put in as bytes is a picture, or only named", () => {
  const blob = { uri: "file:///a", blob: picture.data };
  expect(
    toUserContent([
      { type: "resource", resource: { ...blob, mimeType: "image/png" } },
      { type: "resource", resource: { ...blob, mimeType: "application/zip" } },
    ]),
  ).toEqual([
    { type: "image", ...picture },
    { type: "text", text: "/a (application/zip, attached; it cannot be shown here)" },
  ]);
});

test("what was not announced is refused in words", () => {
  expect(() => toUserContent([{ type: "audio", ...picture }])).toThrow("accepts no audio");
  expect(() => toUserContent([{ type: "image", data: "", mimeType: "image/svg+xml" }])).toThrow("image/svg+xml");
});

test("names hold no character that nobody sees, and no address breaks the message", () => {
  const [link] = toUserContent([{ type: "resource_link", name: "a\u202e\nb", uri: "file:///%2F\u0000" }]);
  expect(link).toEqual({ type: "text", text: "[a<U+202E><U+000A>b](file:///%2F<U+0000>)" });
});

test("a block of code is not ended by its content, however many ticks that holds", () => {
  expect(fenced("````")).toBe("`````\n````\n`````");
  expect(fenced("` ".repeat(300_000)).startsWith("```\n")).toBe(true);
});

test("only text is read as a command", () => {
  expect(
    textOfPrompt([
      { type: "text", text: "/x" },
      { type: "image", ...picture },
    ]),
  ).toBe("/x");
});
