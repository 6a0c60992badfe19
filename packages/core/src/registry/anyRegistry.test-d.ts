import { expectTypeOf, test } from "vitest";
import { toMcpTool } from "../formats.ts";
import type { AnyToolRegistry, ChatTool } from "../interface.ts";
import type { ToolRegistry } from "./registry.ts";

/** As TypeScript sees the class of another installed version: the same methods, other private fields. */
type OtherVersion = { [Method in keyof ToolRegistry]: ToolRegistry[Method] };

test("a registry is taken by its shape", () => {
  expectTypeOf<ToolRegistry>().toExtend<AnyToolRegistry>();
  expectTypeOf<OtherVersion>().toExtend<AnyToolRegistry>();
  expectTypeOf<OtherVersion>().not.toExtend<ToolRegistry>();
});

test("toMcpTool maps a list of schemas", () => {
  expectTypeOf(([] as ChatTool[]).map(toMcpTool)).toEqualTypeOf<ReturnType<typeof toMcpTool>[]>();
});
