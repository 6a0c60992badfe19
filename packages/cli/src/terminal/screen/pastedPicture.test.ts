import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { pastedText } from "./pastedPicture.ts";

test("the path or address of a picture that is there is pasted as its name", () => {
  const path = join(temporaryFolder("pasted"), "a b.png");
  writeFileSync(path, "");
  for (const given of [path, `'${path}'`, path.replace(" ", "\\ "), pathToFileURL(path).href, ` ${path}\n`])
    expect(pastedText(given)).toBe(`@"${path}" `);
});

test.each(["file://server/x.png", "file:///a%2Fb.png", "file://", "/no/such/x.png", "words", "/a.png\n/b.png"])(
  "%j is pasted as it is",
  (given) => {
    expect(pastedText(given)).toBe(given);
  },
);
