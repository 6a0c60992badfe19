import { afterAll, describe, expect, test, vi } from "vitest";
import { sharedFolders } from "../../../testing/shell/checkLines.ts";
import { linesOf, readCorpus } from "../../../testing/shell/corpora.ts";
import { judgeLine } from "../../../testing/shell/judgeLine.ts";
import type { PolicyOptions } from "./options.ts";

// Every `rm -rf /` would look through the machine's own root, which holds more than is looked through, hundreds of times.
vi.mock("./judge/folders.ts", async (importOriginal) => {
  const { listBelow, ...others } = await importOriginal<typeof import("./judge/folders.ts")>();
  const below: typeof listBelow = (folder, ...rest) =>
    folder === "/" ? { entries: [], complete: false } : listBelow(folder, ...rest);
  return { ...others, listBelow: below };
});

// Test files share a process: the modules are loaded again with this look, and once more afterwards.
vi.resetModules();
const { createPolicy } = await import("./policy.ts");
afterAll(() => {
  vi.doUnmock("./judge/folders.ts");
  vi.resetModules();
});

const folders = sharedFolders("policy-lines");

/** The lines that are not decided as expected, with the decision and what the user would read. */
async function unexpected(
  options: PolicyOptions,
  lines: readonly string[],
  isExpected: (decision: string) => boolean,
  shells: readonly string[] = ["sh"],
): Promise<string[]> {
  const policy = createPolicy({ roots: folders.project, cwd: folders.project, home: folders.home, ...options });
  const found: string[] = [];
  for (const line of lines) {
    for (const shell of shells) {
      const { decision, text } = await judgeLine(policy, line, folders.project, shell);
      if (!isExpected(decision)) found.push(`${shell}: ${line}: ${decision}: ${text}`);
    }
  }
  return found;
}

const isNotAllowed = (decision: string): boolean => decision !== "allow";
const isAllowed = (decision: string): boolean => decision === "allow";
const bothShells = ["sh", "bash"];
const commandRules = (commands: readonly string[]): string[] => commands.map((command) => `run_bash(${command})`);

/** Lines that the rules of other agents let through, from their advisories and issues. Hosts and file names differ. */
describe("no line that other agents' rules let through runs unasked", () => {
  test.each([...readCorpus("bypassSyntax"), ...readCorpus("bypassOptions")])("$title", async ({ settings, lines }) => {
    const { allow = [], "writes-inside": writesInside } = settings;
    const mode = writesInside === undefined ? "accept-edits" : "ask";
    expect(await unexpected({ mode, allow }, lines, isNotAllowed, bothShells)).toEqual([]);
    expect(await unexpected({ mode: "read-only", allow }, lines, isNotAllowed)).toEqual([]);
  });
});

describe("no line that got around other agents' rules of deny and ask runs unasked", () => {
  test.each(readCorpus("evasions"))("$title", async ({ settings: { deny = [], ask = [] }, lines }) => {
    expect(await unexpected({ mode: "full", deny, ask }, lines, isNotAllowed, bothShells)).toEqual([]);
  });
});

/** By the manuals of these programs: options that run a program or a file, or write one, and what people pass every day. */
describe("the * of a rule does not cover what does more than people pass every day", () => {
  test.each(readCorpus("wildcards"))("$title", async ({ title, settings, lines }) => {
    const isExpected = "runs" in settings ? isAllowed : (decision: string) => decision === "ask";
    expect(await unexpected({ allow: commandRules([title]) }, lines, isExpected)).toEqual([]);
  });
});

test("commands that only look around are not asked about", async () => {
  expect(await unexpected({}, linesOf("inspection"), isAllowed)).toEqual([]);
});

test("with a developer's rules half of the commands of package scripts and CI run, and the rest is asked about", async () => {
  const allow = commandRules(linesOf("developerRules"));
  const asked = new Set(linesOf("asked"));
  const commands = linesOf("developer");
  const others = commands.filter((line) => !asked.has(line));
  expect(await unexpected({ allow }, others, isAllowed)).toEqual([]);
  expect(await unexpected({ allow }, [...asked], isNotAllowed)).toEqual([]);
  expect(commands.length - others.length).toBe(asked.size);
});

test("a change of the directory at the end of a line matters only to a trap", async () => {
  const allow = ["run_bash(npm test)"];
  expect(await unexpected({ allow }, ["cd src && npm test && cd .."], isAllowed)).toEqual([]);
  expect(await unexpected({ allow }, ["trap 'npm test' EXIT; cd ..", "cd .. && npm test"], isNotAllowed)).toEqual([]);
});
