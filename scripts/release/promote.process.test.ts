import { expect, test } from "vitest";
import { FakeRelease } from "./fakeRelease.ts";

const versions = { core: "0.2.0", fs: "0.2.0" };

/** Two packages at 0.2.0 of one commit under `next`, while `latest` shows 0.1.0. */
async function published(): Promise<FakeRelease> {
  const release = await new FakeRelease().start(versions, "b");
  for (const name of ["@toolcrib/core", "@toolcrib/fs"])
    release.has(name, { latest: "0.1.0", next: "0.2.0" }, { "0.1.0": "a", "0.2.0": "b", "0.3.0": "c" });
  return release;
}

const latest = (release: FakeRelease) => Object.values(release.packages).map(({ tags }) => tags.latest);

test("latest moves to the whole set, and a second run moves nothing", async () => {
  const release = await published();
  const { status, said } = await release.run("promote");
  expect(said).toContain("latest shows the whole set");
  expect(status).toBe(0);
  expect(latest(release)).toEqual(["0.2.0", "0.2.0"]);
  expect((await release.run("promote")).said).toContain("to move: nothing");
});

test("latest does not go back where a newer set was promoted while npm waited for the second factor", async () => {
  const release = await published();
  release.beforeCommand = (command) => {
    if (!command.includes("core@0.2.0")) return;
    for (const { tags } of Object.values(release.packages)) tags.latest = "0.3.0";
  };
  const { status, said } = await release.run("promote");
  expect(said).toContain("@toolcrib/fs is at 0.3.0, and this checkout is older (0.2.0)");
  expect(said).not.toContain("whole set");
  expect(status).toBe(1);
  // npm has no compare-and-set: the move that was waiting went through, and no other.
  expect(release.commands).toEqual(["dist-tag add @toolcrib/core@0.2.0 latest"]);
  expect(release.packages["@toolcrib/fs"]?.tags.latest).toBe("0.3.0");
});

test("success is not claimed where another move of latest came between", async () => {
  const release = await published();
  release.beforeCommand = (command) => {
    if (command.includes("fs@0.2.0"))
      Object.assign(release.packages["@toolcrib/core"]?.tags ?? {}, { latest: "0.1.0" });
  };
  const { status, said } = await release.run("promote");
  expect(said).toContain("latest does not show @toolcrib/core@0.2.0");
  expect(said).not.toContain("whole set");
  expect(status).toBe(1);
});

test("a set of two commits is not promoted, from neither of them", async () => {
  const release = await published();
  release.has("@toolcrib/fs", { latest: "0.1.0", next: "0.2.0" }, { "0.1.0": "a", "0.2.0": "c" });
  for (const [commit, other] of [
    ["b", "@toolcrib/fs"],
    ["c", "@toolcrib/core"],
  ] as const) {
    release.checkOut(versions, commit);
    const { status, said } = await release.run("promote");
    expect(said).toContain(`${other}@0.2.0 is on the registry with other contents`);
    expect(status).toBe(1);
  }
  expect(release.commands).toEqual([]);
});

test("an older prerelease does not take latest from a newer one", async () => {
  const release = await published();
  release.has("@toolcrib/core", { latest: "1.0.0-beta.10" }, { "1.0.0-beta.2": "b", "1.0.0-beta.10": "c" });
  release.checkOut({ ...versions, core: "1.0.0-beta.2" }, "b");
  const { status, said } = await release.run("promote");
  expect(said).toContain("@toolcrib/core is at 1.0.0-beta.10, and this checkout is older (1.0.0-beta.2)");
  expect(status).toBe(1);
  expect(release.commands).toEqual([]);
});

test.each([["--dryrun"], ["--dry-run=yes"], ["--staged"], ["next"]])(
  "%s is refused, and nothing moves",
  async (arg) => {
    const release = await published();
    const { status, said } = await release.run("promote", [arg]);
    expect(said).toContain("known are: --dry-run");
    expect(status).toBe(1);
    expect(release.commands).toEqual([]);
  },
);

test.each(["dryrun", "dry"])("--%s is refused where npm run has kept it for itself", async (word) => {
  const release = await published();
  const { status, said } = await release.run("promote", [], { [`npm_config_${word}`]: "true" });
  expect(said).toContain(`Unknown option '--${word}'; known are: --dry-run`);
  expect(status).toBe(1);
  expect(release.commands).toEqual([]);
});

test("a dry run moves nothing, also where npm run has kept the option for itself", async () => {
  const release = await published();
  const plan = "to move: @toolcrib/core@0.2.0, @toolcrib/fs@0.2.0";
  expect((await release.run("promote", ["--dry-run"])).said).toContain(plan);
  expect((await release.run("promote", [], { npm_config_dry_run: "true" })).said).toContain(plan);
  expect(release.commands).toEqual([]);
});
