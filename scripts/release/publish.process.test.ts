import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { FakeRelease } from "./fakeRelease.ts";

const versions = { core: "0.1.0", fs: "0.1.0" };

test("a first release that broke off does not go on from another commit, though npm made its part latest", async () => {
  const release = await new FakeRelease().start(versions, "b");
  release.has("@toolcrib/core", { latest: "0.1.0", next: "0.1.0" }, { "0.1.0": "a" });
  const refused = await release.run("publish");
  expect(refused.said).toContain("@toolcrib/core@0.1.0 is on the registry with other contents");
  expect(refused.status).toBe(1);
  expect(release.commands).toEqual([]);
  release.checkOut(versions, "a");
  expect((await release.run("publish", ["--dry-run"])).said).toContain("to publish under next: @toolcrib/fs@0.1.0");
});

test("a release of one package goes on beside another that was released from an earlier commit", async () => {
  const release = await new FakeRelease().start({ ...versions, fs: "0.1.1" }, "b");
  for (const name of ["@toolcrib/core", "@toolcrib/fs"])
    release.has(name, { latest: "0.1.0", next: "0.1.0" }, { "0.1.0": "a" });
  const { status, said } = await release.run("publish", ["--dry-run"]);
  expect(said).toContain("to publish under next: @toolcrib/fs@0.1.1");
  expect(status).toBe(0);
});

test.each([[["--dryrun"]], [["--tag=beta", "--stage"]], [["--tag"]], [["--tag", "--staged"]], [["next"]]])(
  "%s is refused, and nothing is published",
  async (args) => {
    const release = await new FakeRelease().start(versions, "a");
    const { status, said } = await release.run("publish", args);
    expect(said).toContain("known are: --tag NAME, --staged, --tarballs NAME, --dry-run");
    expect(status).toBe(1);
    expect(release.commands).toEqual([]);
  },
);

test.each([
  [["--tag=beta", "--dry-run"], {}],
  [["--tag", "beta", "--dry-run"], {}],
  // npm run keeps options for itself that do not follow `--`.
  [[], { npm_config_tag: "beta", npm_config_dry_run: "true" }],
])("%s with %o publishes nothing, and would under beta", async (args, env) => {
  const release = await new FakeRelease().start(versions, "a");
  const { status, said } = await release.run("publish", args, env);
  expect(said).toContain("to publish under beta: @toolcrib/core@0.1.0, @toolcrib/fs@0.1.0");
  expect(status).toBe(0);
  expect(release.commands).toEqual([]);
});

test("what npm run kept of --staged stages, and does not publish", async () => {
  const release = await new FakeRelease().start(versions, "a");
  release.beforeCommand = (command) => {
    throw new Error(`asked for: ${command}`);
  };
  const { said } = await release.run("publish", [], { npm_config_staged: "true" });
  expect(said).toContain("asked for: stage publish");
  expect(said).not.toContain("asked for: publish");
});

test("tarballs that were packed elsewhere are published as they are, and nothing is packed", async () => {
  const release = await new FakeRelease().start(versions, "a");
  const folder = temporaryFolder("tarballs");
  const names = ["@toolcrib/core", "@toolcrib/fs"];
  const overrides = names.map((name) => [name, `file:/another/machine/${name.replace("/", "+")}`]);
  writeFileSync(join(folder, "overrides.json"), JSON.stringify(Object.fromEntries(overrides)));
  for (const name of names) writeFileSync(join(folder, name.replace("/", "+")), `${name} of a`);
  writeFileSync(join(release.folder, "scripts/packAll.mjs"), "process.exit(1);");
  release.has("@toolcrib/core", { next: "0.1.0" }, { "0.1.0": "a" });
  const { status, said } = await release.run("publish", ["--tarballs", folder, "--dry-run"]);
  expect(said).toContain("to publish under next: @toolcrib/fs@0.1.0");
  expect(status).toBe(0);
  release.has("@toolcrib/core", { next: "0.1.0" }, { "0.1.0": "b" });
  expect((await release.run("publish", ["--tarballs", folder])).said).toContain("with other contents than this build");
});

test.each([
  ["an empty folder", undefined, "has no overrides.json"],
  ["tarballs of other packages", "{}", "holds no tarball of @toolcrib/core@0.1.0"],
])("%s is refused", async (_what, overrides, says) => {
  const release = await new FakeRelease().start(versions, "a");
  const folder = temporaryFolder("tarballs");
  if (overrides !== undefined) writeFileSync(join(folder, "overrides.json"), overrides);
  const { status, said } = await release.run("publish", ["--tarballs", folder]);
  expect(said).toContain(says);
  expect(status).toBe(1);
  expect(release.commands).toEqual([]);
});
