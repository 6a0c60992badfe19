import { join } from "node:path";
import { PassThrough } from "node:stream";
import { readImageHeader } from "@toolcrib/kit/text";
import { drawPicture, temporaryFolder, withoutSharp, withSharpAs, writeIn } from "@toolcrib/testing";
import { describe, expect, test, vi } from "vitest";
import { mentionReader, readPrompt } from "./prompt.ts";

/** Writes a file and reads it as one that a message names. */
async function mentioned(name: string, content: string | Buffer): Promise<string> {
  const folder = temporaryFolder("mention");
  writeIn(folder, name, content);
  try {
    const read = await mentionReader(folder)(name);
    if (typeof read !== "object") return String(read);
    const { format, width, height } = readImageHeader(Buffer.from(read.data, "base64")) ?? {};
    return `${read.mimeType}: ${format} ${width} x ${height}`;
  } catch (error) {
    return String(error).replaceAll(folder, "");
  }
}

/** Too large for a service as it is. */
const heavy = drawPicture(1300, 1000, { isStored: true });

describe("a picture that a message names", () => {
  test("goes along as it is, where it is small", async () => {
    expect(await mentioned("a.png", await drawPicture(30, 20))).toBe("image/png: PNG 30 x 20");
  });

  test("is made smaller, where services may refuse it", async () => {
    expect(await mentioned("a.gif", await drawPicture(3000, 30, { format: "gif" }))).toBe("image/png: PNG 2000 x 20");
    expect(await mentioned("a.png", await heavy)).toBe("image/png: PNG 1300 x 1000");
  });

  test("is made smaller once", async () => {
    const folder = temporaryFolder("once");
    writeIn(folder, "small.png", await drawPicture(30, 30));
    writeIn(folder, "big.png", await drawPicture(3000, 30));
    const stub = `let opened = 0;
const small = require("node:fs").readFileSync(${JSON.stringify(join(folder, "small.png"))});
const image = { timeout: () => image, resize: () => image, toFormat: () => image, toBuffer: async () => small };
module.exports = () => {
  opened += 1;
  if (opened > 1) throw new Error("opened again");
  return image;
};`;
    writeIn(folder, "sharp.cjs", stub);
    withSharpAs(join(folder, "sharp.cjs"));
    const message = await readPrompt([`@${join(folder, "big.png")}`, "what is it?"], {
      host: { stdin: { isTTY: true } } as never,
      cwd: folder,
      terminal: { aside: () => {} } as never,
    });
    expect(message).toMatchObject([{ type: "text" }, { type: "image" }]);
  });

  test("is refused in words, where nothing makes it smaller", async () => {
    withoutSharp();
    expect(await mentioned("a.png", await drawPicture(3000, 30))).toBe("image/png: PNG 3000 x 30");
    expect(await mentioned("a.png", await heavy)).toMatch(
      /@a.png: a picture may have 3750000 bytes, and this has \d+; make it smaller, or install the package sharp/,
    );
  });

  test("is refused in words, where it cannot be decoded", async () => {
    const bytes = await drawPicture(3000, 30, { format: "jpeg" });
    expect(await mentioned("a.jpg", bytes.subarray(0, -100))).toMatch(
      "@a.jpg: it cannot be made smaller: it cannot be decoded",
    );
  });
});

test("a file that is no text is refused, and no garbage goes to the model", async () => {
  expect(await mentioned("a.pdf", "%PDF-1.7\nstream")).toMatch("@a.pdf: a PDF is not read as text; convert it first");
  expect(await mentioned("a.bin", Buffer.from([0, 255, 1, 254]))).toMatch(
    "@a.bin: it is a binary file; name a text or",
  );
  expect(await mentioned("a.txt", "%PDF- begins a PDF\n")).toBe("%PDF- begins a PDF\n");
});

test("a pipe that nobody closes or writes to is given up on after a while, where there is a prompt without it", async () => {
  vi.useFakeTimers();
  const notes: string[] = [];
  const terminal = { aside: (line: string) => notes.push(line) } as never;
  const host = { stdin: new PassThrough() } as never;
  const prompt = readPrompt(["list", "src"], { host, cwd: "/", terminal });
  await vi.advanceTimersByTimeAsync(3000);
  vi.useRealTimers();
  expect(await prompt).toBe("list src");
  expect(notes).toEqual(["Nothing came from standard input so far: going on without it."]);
});
