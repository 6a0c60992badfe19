// The conformance suite of every tool of the packs that need no shell.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { testTool } from "@toolcrib/core/testing";
import { createSkills } from "@toolcrib/skills";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { createWebTools } from "@toolcrib/tools-web";
import { newFolder, runTests, test } from "../harness.mjs";

const root = newFolder();
let counter = 0;
const file = () => {
  const name = `file-${++counter}.txt`;
  writeFileSync(join(root, name), "old text\r\nfoo\r\n");
  return name;
};
const validArgs = {
  read_file: () => ({ path: file() }),
  write_file: () => ({ path: file(), content: "new" }),
  edit_file: () => ({ path: file(), edits: [{ old_text: "old", new_text: "new" }] }),
  list_dir: () => ({ path: "." }),
  mkdir: () => ({ path: `dir-${file()}` }),
  remove: () => ({ path: file() }),
  move: () => ({ source: file(), destination: `moved-${++counter}` }),
  apply_patch: () => ({ input: `*** Begin Patch\n*** Update File: ${file()}\n-old text\n+new text\n*** End Patch` }),
  search_text: () => ({ query: "foo", paths: ["."] }),
  search_files: () => ({ pattern: "**/*.txt" }),
  read_skill: () => ({ name: "a" }),
  web_fetch: () => ({ url: `http://127.0.0.1:${server.address().port}/` }),
};
const skillFolder = newFolder();
mkdirSync(join(skillFolder, "a"));
writeFileSync(join(skillFolder, "a", "SKILL.md"), "---\r\nname: a\r\ndescription: Of use.\r\n---\r\nDo it.\r\n");

const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/html" }).end("<title>T</title><p>old text");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
server.unref();

const packs = [
  () => createFsTools({ root }),
  () => createSearchTools({ root, cwd: root }),
  () => createSkills({ folders: [skillFolder] }).tools,
  () => createWebTools({ privateHosts: ["127.0.0.1"] }),
];
for (const make of packs) {
  for (const [index, { name }] of make().entries()) {
    testTool((check, run) => test(`${name}: ${check}`, run), {
      create: () => make()[index],
      validArgs: validArgs[name],
    });
  }
}
await runTests();
