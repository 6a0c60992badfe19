import { expect, test } from "vitest";
import { askedCommands } from "../../../testing/shell/askedCommands.ts";
import { sharedFolders } from "../../../testing/shell/checkLines.ts";
import { developerCommands, developerRules } from "../../../testing/shell/developerCommands.ts";
import { inspectionCommands } from "../../../testing/shell/inspectionCommands.ts";
import { judgeLine } from "../../../testing/shell/judgeLine.ts";
import { createPolicy } from "./policy.ts";

const folders = sharedFolders("policy-ordinary");

async function askedAmong(lines: readonly string[], allow: readonly string[]): Promise<string[]> {
  const policy = createPolicy({ roots: folders.project, home: folders.home, allow });
  const asked: string[] = [];
  for (const line of lines) {
    if ((await judgeLine(policy, line, folders.project)).decision !== "allow") asked.push(line);
  }
  return asked;
}

test("commands that only look around are not asked about", async () => {
  expect(await askedAmong(inspectionCommands, [])).toEqual([]);
});

test("with a developer's rules half of the commands of package scripts and CI run, and the rest is asked about", async () => {
  const commands = developerCommands.flatMap((group) => group.commands);
  const asked = await askedAmong(commands, developerRules);
  const reasons = Object.entries(askedCommands).map(([why, lines]) => `${lines.length} ${why}`);
  console.log(`${asked.length} of ${commands.length} developer commands are asked about: ${reasons.join(", ")}`);
  expect(asked.toSorted()).toEqual(Object.values(askedCommands).flat().toSorted());
});

test("a change of the directory at the end of a line matters only to a trap", async () => {
  const lines = ["cd src && npm test && cd ..", "trap 'npm test' EXIT; cd ..", "cd .. && npm test"];
  expect(await askedAmong(lines, ["run_bash(npm test)"])).toEqual(lines.slice(1));
});
