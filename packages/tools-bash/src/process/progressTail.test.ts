import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createRunBashTool } from "../runBash.ts";
import { HeadTailBuffer } from "./headTailBuffer.ts";
import { createProgressTail } from "./progressTail.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function tailOf(report: (lines: string) => void): {
  print: (stream: "stdout" | "stderr", text: string | Uint8Array) => void;
  texts: () => string[];
  end: () => void;
} {
  const tail = createProgressTail({ stdout: new HeadTailBuffer(), stderr: new HeadTailBuffer() }, report);
  return {
    print: (stream, text) => tail.output[stream].push(Buffer.from(text as string)),
    texts: () => [tail.output.stdout.toString(), tail.output.stderr.toString()],
    end: tail.end,
  };
}

describe("what is reported while a command runs", () => {
  test("is the last lines of both streams, in the order they came", () => {
    const seen: string[] = [];
    const { print, texts } = tailOf((lines) => seen.push(lines));
    print("stdout", "1\n2\n3\n4\n");
    print("stdout", "half");
    print("stderr", "warn\n\n");
    print("stdout", "5");
    vi.advanceTimersByTime(100);
    expect(seen).toEqual(["3\n4\nhalf\nwarn\n5"]);
    print("stdout", "6\n");
    vi.advanceTimersByTime(100);
    expect(seen[1]).toBe("3\n4\nhalf\nwarn\n56");
    expect(texts()).toEqual(["1\n2\n3\n4\nhalf56\n", "warn\n\n"]);
  });

  test("comes at most ten times a second, however much is printed, and stays small", () => {
    const seen: string[] = [];
    const { print } = tailOf((lines) => seen.push(lines));
    for (let ms = 0; ms < 1000; ms += 1) {
      for (let index = 0; index < 20; index += 1) print("stdout", `${"x".repeat(500)}\n`);
      vi.advanceTimersByTime(1);
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.length).toBeLessThanOrEqual(10);
    print("stdout", "y".repeat(1_000_000));
    vi.advanceTimersByTime(100);
    expect(seen.at(-1)).toBe("y".repeat(2048));
  });

  test("is nothing for a command that ends at once, and nothing after the end", () => {
    const seen: string[] = [];
    const { print, end } = tailOf((lines) => seen.push(lines));
    vi.advanceTimersByTime(1000);
    print("stdout", "done\n");
    end();
    vi.advanceTimersByTime(1000);
    expect(seen).toEqual([]);
  });

  test("is the bytes as printed, without partial characters", () => {
    const seen: string[] = [];
    const { print } = tailOf((lines) => seen.push(lines));
    print("stdout", "\u001b[32mone\u001b[0m\r\n10 %\r50 %\r100 %\r\n");
    vi.advanceTimersByTime(100);
    print("stdout", "€".repeat(1000));
    print("stdout", Buffer.from("€").subarray(0, 1));
    vi.advanceTimersByTime(100);
    expect(seen).toEqual(["\u001b[32mone\u001b[0m\r\n10 %\r50 %\r100 %\r", "€".repeat(682)]);
  });

  test("does not end the command if the listener throws", () => {
    const { print, texts } = tailOf(() => {
      throw new Error("no screen");
    });
    print("stdout", "kept\n");
    vi.advanceTimersByTime(100);
    expect(texts()[0]).toBe("kept\n");
  });
});

test("run_bash reports what its command prints while it runs", async () => {
  vi.useRealTimers();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const ended = new AbortController();
  const running = createRunBashTool().execute(
    { command: "echo first; echo ready >&2; sleep 600" },
    { onProgress: ({ message }) => resolve(message), signal: ended.signal },
  );
  expect(await promise).toBe("first\nready");
  ended.abort();
  await expect(running).rejects.toMatchObject({ code: "aborted" });
});
