import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { findProblems } from "./checkMarkdown.mjs";

const page = "# Title\n\nSome text.\n\n## Part `one` (1.0)\n\nText.\n";

/** Each row: what it is, what follows the page, and the problem with its line. */
test.each<[string, string, string[]]>([
  ["a whole page", "", []],
  ["an empty section at the end", "\n## Empty\n", ["9: an empty section"]],
  ["one between others", "\n## Empty\n\n<!-- a comment -->\n\n## Next\n\nText.\n", ["9: an empty section"]],
  ["a heading above another one below it", "\n## Outer\n\n### Inner\n\nText.\n", []],
  ["a section of code alone", "\n## Code\n\n```sh\n# no heading\n```\n", []],
  ["a placeholder", "\nTBD\n", ["9: a placeholder: TBD"]],
  ["one before its text", "\nTODO: later.\n", ["9: a placeholder: TODO"]],
  ["one in code", "\n`TODO: x`\n\n```text\nTODO: y\n```\n", []],
  ["a part that nobody has generated", "\n<!-- tools: all -->\n", ["9: nothing is written for <!-- tools: all -->"]],
  ["an empty one", "\n<!-- tools: all -->\n\n<!-- end -->\n", ["9: nothing is written for <!-- tools: all -->"]],
  ["a written one", "\n<!-- tools: all -->\n\nText.\n\n<!-- end -->\n", []],
  ["a link to a heading that is there", "\n[a](#part-one-10) [b](other.md#title) [c](folder#title)\n", []],
  ["one to a heading that is not", "\n[a](#part-two)\n", ["9: the link #part-two leads nowhere: page.md has no such"]],
  ["the same in another file", "\n[a](other.md#x)\n", ["9: the link other.md#x leads nowhere: other.md has no such"]],
  ["a link to no file", "\n[a](none.md)\n", ["9: the link none.md leads nowhere: there is no none.md"]],
  ["links to elsewhere, and in code", "\n[a](https://example.com/#b) `[a](none.md)`\n", []],
])("%s", (_what, more, problems) => {
  const root = temporaryFolder("markdown");
  writeIn(root, "page.md", page + more);
  writeIn(root, "other.md", "# Title\n\nText.\n");
  writeIn(root, "folder/README.md", "# Title\n\nText.\n");
  expect(findProblems(root, ["page.md"])).toEqual(
    problems.map((problem) => expect.stringContaining(`page.md:${problem}`)),
  );
});
