import { type ContentBlock, ToolError, type ToolOutcome } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { failureReason, toCallResult } from "./mapping.ts";

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

test("the prefix that a registry on the server gave a failure is removed, and an empty failure gets a reason", () => {
  expect(failureReason("read", "Error executing read: no such file")).toBe("no such file");
  expect(failureReason("read", "Error executing write: no such file")).toBe("Error executing write: no such file");
  expect(failureReason("read", "no such file")).toBe("no such file");
  expect(failureReason("read", "")).toBe("the tool failed without giving a reason");
});
