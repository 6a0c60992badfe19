import { ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { RegistriesByRoots } from "./registriesByRoots.ts";

test("equal roots share a registry, other roots have another, and an empty list counts as no roots", async () => {
  const made: unknown[] = [];
  const registries = new RegistriesByRoots((roots) => {
    made.push(roots);
    return new ToolRegistry();
  });
  expect(await registries.get(["/a"])).toBe(await registries.get(["/a"]));
  expect(await registries.get(["/a", "/b"])).not.toBe(await registries.get(["/a"]));
  expect(await registries.get([])).toBe(await registries.get());
  expect(made).toEqual([["/a"], ["/a", "/b"], undefined]);
});

test("a plain registry is shared by all clients", async () => {
  const registry = new ToolRegistry();
  const registries = new RegistriesByRoots(registry);
  expect(await registries.get(["/a"])).toBe(registry);
  expect(registries.usesRoots).toBe(false);
});

test("the number of registries is limited, the one without roots always stays, and dropped ones report no changes", async () => {
  const registries = new RegistriesByRoots(() => createFixtureRegistry());
  let told = 0;
  registries.onChange(() => {
    told += 1;
  });
  const plain = await registries.get();
  const first = await registries.get(["/0"]);
  for (let count = 1; count <= 32; count += 1) await registries.get([`/${count}`]);
  expect(await registries.get()).toBe(plain);
  first.disable("echo");
  expect(told).toBe(0);
  plain.disable("echo");
  expect(told).toBe(1);
  expect(await registries.get(["/0"])).not.toBe(first);
  registries.close();
  plain.enable("echo");
  expect(told).toBe(1);
});
