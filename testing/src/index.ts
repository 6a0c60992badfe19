import { testTool as declareToolTests, type ToolUnderTest } from "@toolcrib/core/testing";
import { describe, test } from "vitest";

/** The conformance suite that every tool joins with one call. */
export function testTool(title: string, subject: ToolUnderTest): void {
  describe(title, () => declareToolTests(test, subject));
}
