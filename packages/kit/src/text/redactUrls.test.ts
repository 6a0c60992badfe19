import { expect, test } from "vitest";
import { redactUrls } from "./secrets.ts";

test.each([
  ["https://example.com/mcp", "https://example.com/mcp"],
  ["https://u:p@example.com/mcp", "https://[redacted]@example.com/mcp"],
  ["https://token@example.com", "https://[redacted]@example.com"],
  ["https://example.com/mcp?key=abc&v=1#frag", "https://example.com/mcp?key=[redacted]&v=[redacted]#[redacted]"],
  ["https://example.com/?abc", "https://example.com/?[redacted]"],
  [
    "fetch of http://a:b@c/ and https://x?k=v failed",
    "fetch of http://[redacted]@c/ and https://x?k=[redacted] failed",
  ],
  ['"postgres://me:p%40ss@db:5432/x"', '"postgres://[redacted]@db:5432/x"'],
  ["https://u:p/a?s#s@example.com/x", "https://[redacted]@example.com/x"],
  ["https://example.com/pkg@1.2", "https://example.com/pkg@1.2"],
  [`https://\${USER}:\${PASS}@example.com/?key=\${KEY}`, `https://\${USER}:\${PASS}@example.com/?key=\${KEY}`],
  [`https://example.com/?key=\${KEY:-abc}`, `https://example.com/?key=[redacted]`],
  ["no address here: a@b", "no address here: a@b"],
])("%s is shown as %s", (text, shown) => {
  expect(redactUrls(text)).toBe(shown);
});

test("a long text costs time in proportion to its length", () => {
  const text = "a://".repeat(50_000) + "@".repeat(50_000);
  expect(redactUrls(text).length).toBeGreaterThan(0);
});
