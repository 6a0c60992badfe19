import { SandboxManager, SandboxRuntimeConfigSchema } from "@anthropic-ai/sandbox-runtime";
import { expectTypeOf, test } from "vitest";
import type { RuntimePackage } from "./runtime/runtimePackage.ts";

test("what is used of the package is what it has", () => {
  expectTypeOf({ SandboxManager, SandboxRuntimeConfigSchema }).toExtend<RuntimePackage>();
});
