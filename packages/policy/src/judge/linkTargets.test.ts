import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, test } from "vitest";
import { expectJudged } from "../../../../testing/shell/judgeLine.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
const put = (path: string): void => writeIn(root, path, "x\n");
const link = (target: string, path: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(target, join(root, path));
};

async function all(expected: string, paths: readonly string[], options: PolicyOptions = {}): Promise<void> {
  const policy = createPolicy({ roots: root, home: join(root, "home"), mode: "accept-edits", ...options });
  const lines = paths.map((path) => `echo x > ${path}`);
  await expectJudged(policy, lines, expected, root);
}

beforeEach(() => {
  root = temporaryFolder("policy-links");
  put("cfgs/vsc/tasks.json");
  put("docs/run.sh");
  put("docs/a.md");
});

test("what a link with a protected name leads to is protected", async () => {
  link("shared/envrc", ".envrc");
  link("cfgs/vsc", ".vscode");
  link("next", "AGENTS.md");
  link("docs/a.md", "next");
  await all("ask", ["shared/envrc", "cfgs/vsc/tasks.json", "cfgs/vsc/new", "docs/a.md", "next"]);
  await all("allow", ["shared/x", "cfgs/x", "docs/run.sh"]);
  await all("allow", ["docs/a.md"], { allow: ["effect:write(docs/a.md)"] });
});

test("what a link in a protected folder leads to is protected", async () => {
  put(".husky/deep/x");
  link("../docs/run.sh", ".husky/pre-commit");
  link("../../docs/a.md", ".husky/deep/l");
  link("../../tools/yours", "infra/hooks/x");
  await all("ask", ["docs/run.sh", "docs/a.md", "tools/yours"], { protect: ["infra/hooks/"] });
  await all("allow", ["tools/yours", "docs/b.md"]);
});

test("a link out of the roots, or to a folder around one, protects nothing more", async () => {
  link("..", ".idea/up");
  link("../..", ".idea/out");
  link("loop", ".envrc");
  link(".envrc", "loop");
  await all("allow", ["docs/a.md", "x"]);
});

test("a hook of git that is a link protects the script that it leads to", async () => {
  put("tools/push");
  put(".git/HEAD");
  link("../../tools/push", ".git/hooks/pre-push");
  await all("ask", ["tools/push"]);
});
