import { ToolRegistry } from "@toolcrib/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ScreenModel } from "../../../../testing/src/screenModel.ts";
import { startJob } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import { createRunBashTool } from "../runBash.ts";
import { OutputCleaner } from "./outputCleaner.ts";
import { StreamOutput, shownText } from "./streamOutput.ts";

/** `npm run test:fuzz` has more. */
const rounds = Number(process.env.TOOLCRIB_FUZZ ?? 100);

function cleaned(...chunks: readonly Uint8Array[]): string {
  const parts: Buffer[] = [];
  const cleaner = new OutputCleaner((text) => parts.push(Buffer.from(text as string)));
  for (const chunk of chunks) cleaner.push(chunk);
  cleaner.flush();
  return Buffer.concat(parts).toString();
}

describe("a reply shows a line as it stood in the end", () => {
  test.each([
    ["\u001b[1;32mok\u001b[0m \u001b]8;;https://a\u0007link\u001b]8;;\u001b\\", "ok link"],
    ["\u009b31mred\u009b0m \u009d0;title\u009c.", "red ."],
    ["10 %\r50 %\r100 %\r\n", "100 %\n"],
    ["Downloading a long name\r\u001b[Kdone\n", "done\n"],
    ["abcdef\rxy\n", "xycdef\n"],
    ["a\u001b[2K\u001b[1Gb\n", "b\n"],
    ["N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["kept  \r\n\tindented\n", "kept  \n\tindented\n"],
    ["one\u001b[1A\u001b[2Ktwo\n", "one\ntwo\n"],
    ["\u001b]0;no end\nnext\n", "\nnext\n"],
    ["a.txt\0b.txt\0", "a.txt␀b.txt␀"],
    ["bell\u0007 \u001b(Bset\u001b=", "bell set"],
    ["1 of 3 日本\u001b[2K\u001b[1G2 of 3\u001b[1000D\u001b[K3 of 3\n", "3 of 3\n"],
    ["a\u001b[5Cb\u001b[40Gc\n", "abc\n"],
    ["😀 one\rok\n", "ok one\n"],
    ["😀 one\r1\n", "1  one\n"],
  ])("%j", (printed, expected) => {
    expect(cleaned(Buffer.from(printed))).toBe(expected);
    // Also where a sequence or a character is cut between any two reads.
    expect(cleaned(...Array.from(Buffer.from(printed), (byte) => Uint8Array.of(byte)))).toBe(expected);
  });

  test(`for ${rounds} made-up streams, cut anywhere`, async () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("a", "bc", "def ghi", " ", "é", "100 %") },
      { weight: 3, arbitrary: fc.constantFrom("\r", "\b", "\n", "\r\n", "\u0007") },
      fc.constantFrom(
        "\u001b[31m",
        "\u001b[0m",
        "\u009b1m",
        "\u001b]0;t\u0007",
        "\u001b]8;;x\u001b\\",
        "\u009d2;t\u009c",
      ),
      fc.constantFrom(
        "\u001b[K",
        "\u001b[1K",
        "\u001b[2K",
        "\u001b[0K",
        "\u001b[?25l",
        "\u001b[?K",
        "\u001b(B",
        "\u001bP1q\u001b\\",
      ),
      fc.nat(12).map((count) => `\u001b[${count}D`),
      fc.constantFrom("\u001b[G", "\u001b[1G"),
      fc.constantFrom("\u001b[3\r1m", "\u001b[\u001b[1m", "\u001b[12\u0018x", "\u001b_g\u001b\\"),
    );
    const stream = fc.tuple(fc.array(piece, { maxLength: 24 }), fc.array(fc.nat(60), { maxLength: 4 }));
    const shown = (text: string): string =>
      text
        .split("\n")
        .map((line) => line.trimEnd())
        .join("\n")
        .trimEnd();
    await fc.assert(
      fc.asyncProperty(stream, async ([pieces, cuts]) => {
        const printed = pieces.join("");
        const terminal = new ScreenModel(600, 40);
        terminal.terminal.options.convertEol = true;
        await terminal.write(printed);
        const bytes = Buffer.from(printed);
        const ends = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
        expect(shown(cleaned(...chunks))).toBe(terminal.text);
        terminal.terminal.dispose();
      }),
      { numRuns: rounds },
    );
  }, 300_000);

  test("in linear time and flat memory, however a line is written over", () => {
    for (const unit of ["\rx", "\u001b[1000Dx\u001b[1K", "a\b", "\u001b[999999999", "\u001b]x", "e\u0301\u0301"]) {
      let bytes = 0;
      const cleaner = new OutputCleaner((text) => {
        bytes += text.length;
      });
      const chunk = Buffer.from(unit.repeat(2000));
      for (let round = 0; round < 20; round += 1) cleaner.push(chunk);
      cleaner.flush();
      expect(bytes).toBeLessThanOrEqual(20 * chunk.length);
    }
  });

  test("a long line passes whole, the same in one piece, in several and byte by byte", () => {
    const line = `${"x".repeat(5000)}é😀${"y".repeat(5000)}`;
    expect(cleaned(Buffer.from(line), Buffer.from("!\nnext"))).toBe(`${line}!\nnext`);
    for (const [before, length] of [
      ["", 5000],
      ["\u00e9", 5000],
      ["\u00e9".repeat(1023), 4000],
      ["ab\b", 3000],
      ["\x1b]0;", 3000],
      ["\x1b[3", 3000],
      ["😀".repeat(600), 2049],
    ] as const) {
      const letters = Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
      const all = Buffer.from(`${before}${letters}\rXY\n${before}`);
      const start = Buffer.byteLength(before);
      const each = cleaned(...[...all].map((byte) => Uint8Array.of(byte)));
      expect([before, cleaned(all)]).toEqual([before, each]);
      for (const cut of [start - 1, start, start + length].filter((at) => at >= 0))
        expect(cleaned(all.subarray(0, cut), all.subarray(cut, start + length), all.subarray(start + length))).toBe(
          each,
        );
    }
  });
});

test("a character of two UTF-16 halves is whole in a reply, wherever its line is cut or written over", () => {
  for (const over of ["", "\r", "\b", "\b\b", "\b\b\b", "\u001b[3D", "\u001b[1K"]) {
    for (let before = 1020; before <= 1026; before += 1) {
      const printed = `${"x".repeat(before)}${"😀".repeat(700)}${over}${"y".repeat(40)}${"😀".repeat(700)}${over}z`;
      const shown = shownText(printed);
      expect([over, before, /[\p{Surrogate}\ufffd]/u.test(shown)]).toEqual([over, before, false]);
      if (over === "") expect(shown).toBe(printed);
    }
  }
  const binary = shownText(`${"x".repeat(999)}😀${"\0\u0001\u0002".repeat(900)}`);
  expect(binary).toBe(`${"x".repeat(999)}\n[binary output, 3703 bytes, not shown]`);
});

describe("what is binary", () => {
  test("is told by its size, behind what could be read", () => {
    expect(shownText("\0".repeat(5000))).toBe("[binary output, 5000 bytes, not shown]");
    const output = new StreamOutput();
    output.push(Buffer.from("header\n"));
    output.push(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167 + (index >> 3)) % 256)));
    output.end();
    expect(output.take().shown).toBe("header\n[binary output, 4103 bytes, not shown]");
  });

  test("is not text of another encoding, nor a list with NULs", () => {
    expect(shownText("src/a.ts\0src/b.ts\0")).toBe("src/a.ts␀src/b.ts␀");
    const output = new StreamOutput();
    output.push(Buffer.from("d\xe9j\xe0 vu\n", "latin1"));
    output.end();
    expect(output.take().shown).toBe("d\ufffdj\ufffd vu\n");
  });
});

describe("the limit", () => {
  test("counts what is sent, after the escapes of JSON", () => {
    for (const line of ['"\\"\\\n', "\n", '\t"x"\n']) {
      const shown = shownText(line.repeat(40_000));
      expect(JSON.stringify(shown).length).toBeLessThan(51_200 + 200);
      expect(JSON.stringify(shown).length).toBeGreaterThan(50_000);
      expect(shown).toMatch(/\n\n\[truncated: shown \d+ of \d+ bytes\]$/);
    }
  });
});

describe("run_bash and read_output", () => {
  const command = "printf '\\033[31mred\\033[0m 1%%\\r2%%\\n'; printf 'a\\bb' >&2";

  test("answer clean text, and as data the bytes as printed", async () => {
    const registry = new ToolRegistry(createBashTools({ background: true }));
    expect(await registry.invoke("run_bash", { command })).toEqual({
      ok: true,
      output: '{"stdout":"2%d 1%\\n","stderr":"b","exit_code":0}',
      data: { stdout: "\u001b[31mred\u001b[0m 1%\r2%\n", stderr: "a\bb", exit_code: 0 },
    });
    const id = await startJob(registry, command);
    await expect
      .poll(() => registry.invoke("read_output", { id, wait: 60_000 }))
      .toMatchObject({
        output: expect.stringMatching(/"stdout":"2%d 1%/) as string,
        data: { stdout: "\u001b[31mred\u001b[0m 1%\r2%\n" },
      });
  });

  test("clean what a runner of the caller's own answers", async () => {
    const runner = (): Promise<{ stdout: string; stderr: string; exitCode: number; running: [] }> =>
      Promise.resolve({ stdout: "\u001b[1mx\u001b[0m", stderr: "", exitCode: 0, running: [] });
    const registry = new ToolRegistry([createRunBashTool({ runner })]);
    expect(await registry.execute("run_bash", { command: "x" })).toBe('{"stdout":"x","stderr":"","exit_code":0}');
  });
});
