import { type ContentBlock, defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { readImageHeader } from "@toolcrib/kit/text";
import { drawPicture, withoutSharp } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { mounted } from "../../fixtures/mounting.ts";
import { servedEntry } from "../../fixtures/serving.ts";
import { withFittedPictures } from "./fittedPictures.ts";

const image = (bytes: Buffer): ContentBlock => ({
  type: "image",
  data: bytes.toString("base64"),
  mimeType: "image/png",
});

/** Mounts a server whose one tool answers with these blocks, and calls it. */
async function answered(...content: ContentBlock[]): Promise<{ output: string; sizes: string[] }> {
  const execute = () => toolOutput("Here.", { content });
  const tool = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute });
  const { registry } = await mounted({ there: await servedEntry(new ToolRegistry([tool])) });
  const outcome = await registry.invoke("mcp__there__look", {});
  const sizes = (outcome.content ?? []).flatMap((block) => {
    if (block.type !== "image") return [];
    const { width, height } = readImageHeader(Buffer.from(block.data, "base64")) ?? {};
    return [`${block.mimeType} ${width} x ${height}`];
  });
  return { output: outcome.ok ? outcome.output : String(outcome.error), sizes };
}

test("a picture of a server is made smaller where services may refuse it, before its bytes count", async () => {
  const heavy = await drawPicture(1400, 1000, { isStored: true });
  const { output, sizes } = await answered(
    image(heavy),
    image(await drawPicture(3000, 30)),
    image(await drawPicture(9, 9)),
  );
  expect(sizes).toEqual(["image/png 1400 x 1000", "image/png 2000 x 20", "image/png 9 x 9"]);
  expect(output).toMatch(/^Here\.\n\[image: image\/png, \d+ bytes\]\n\[image: image\/png, \d+ bytes\]\n/);
});

test("a picture that cannot be decoded becomes a line, and the others stay", async () => {
  const broken = (await drawPicture(3000, 30, { format: "jpeg" })).subarray(0, -100);
  const { output, sizes } = await answered(image(broken), image(await drawPicture(9, 9)));
  expect(output).toMatch(/\n\[image left out: it cannot be made smaller: it cannot be decoded: /);
  expect(sizes).toEqual(["image/png 9 x 9"]);
});

test("where nothing makes it smaller, a picture stays as it came", async () => {
  withoutSharp();
  expect((await answered(image(await drawPicture(3000, 30)))).sizes).toEqual(["image/png 3000 x 30"]);
});

test("any other result stays as it came, and the end of the call ends the wait", async () => {
  for (const result of [undefined, null, "text", {}, { content: "none" }])
    expect(await withFittedPictures(result, undefined)).toBe(result);
  const odd = {
    content: [null, 1, { type: "image" }, { type: "image", data: 1, mimeType: "image/png" }],
    isError: true,
  };
  expect(await withFittedPictures(odd, undefined)).toEqual(odd);
  const large = { content: [image(await drawPicture(3000, 30))] };
  await expect(withFittedPictures(large, AbortSignal.abort("over"))).rejects.toBe("over");
});
