import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { type TrustStore, trustStore } from "./trustStore.ts";

let path = "";
let store: TrustStore;
beforeEach(() => {
  path = join(temporaryFolder("trust"), "own", "trust.json");
  store = trustStore(path);
});

test("an answer holds for its kind, path and digest, and is forgotten on demand; the file is the user's alone", async () => {
  await store.save("project", "/a", "1");
  await store.save("skills", "/a", "2", false);
  const again = trustStore(path);
  expect(await again.of("project", "/a", "1")).toBe("trusted");
  expect(await again.of("project", "/a", "2")).toBe("changed");
  expect(await again.of("skills", "/a", "2")).toBe("refused");
  expect(await again.of("skills", "/b", "2")).toBe("new");
  expect([await again.wasTrusted("project", "/a"), await again.wasTrusted("skills", "/a")]).toEqual([true, false]);
  await again.save("project", "/a");
  expect([await store.of("project", "/a", "1"), await store.of("skills", "/a", "2")]).toEqual(["new", "refused"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("answers of an earlier store are adopted where there are none yet; others count without being written", async () => {
  await store.save("project", "/a", "1", false);
  const old = ["/a", "/b"].map((place) => ({ kind: "project", path: place, digest: "1", isTrusted: true }));
  const before = readFileSync(path, "utf8");
  const reading = trustStore(path, { more: old });
  expect([await reading.of("project", "/a", "1"), await reading.of("project", "/b", "1")]).toEqual([
    "refused",
    "trusted",
  ]);
  expect(readFileSync(path, "utf8")).toBe(before);
  await store.adopt(old);
  expect([await store.of("project", "/a", "1"), await store.of("project", "/b", "1")]).toEqual(["refused", "trusted"]);
});

test("answers of several programs at once are all kept, and names are no properties of objects", async () => {
  const stores = Array.from({ length: 5 }, () => trustStore(path));
  await Promise.all(stores.map((one, at) => one.save(`server ${at}`, "/a", "1")));
  for (const at of stores.keys()) expect(await store.of(`server ${at}`, "/a", "1")).toBe("trusted");
  expect(await store.of("constructor", "name", "Object")).toBe("new");
  expect(await store.of("project", "__proto__", "1")).toBe("new");
});
