import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compareRules, compareTree, type Peers } from "../../../testing/suites/search/comparePeers.ts";

// What ripgrep and git answered; `testing/suites/search/peers.suite.ts` asks them anew.
const file = new URL("../fixtures/peers.json", import.meta.url);
const { versions, rules, trees } = JSON.parse(readFileSync(file, "utf8")) as Peers;

test(`a .gitignore ignores what it does for ${versions[1]}`, () => {
  for (const one of rules) compareRules(one);
  expect(rules.length).toBeGreaterThan(50);
});

test(`the files that are walked and the lines that are found are those of ${versions[0]}`, async () => {
  for (const tree of trees) await compareTree(tree);
  expect(trees.length).toBeGreaterThan(30);
});
