import { testProvider as declareProviderTests, type ProviderUnderTest } from "@toolcrib/agent/testing";
import { testTool as declareToolTests, type ToolUnderTest } from "@toolcrib/core/testing";
import { describe, test } from "vitest";

/** The conformance suite that every tool joins with one call. */
export function testTool(title: string, subject: ToolUnderTest): void {
  describe(title, () => declareToolTests(test, subject));
}

/** The conformance suite that every provider joins with one call. */
export function testProvider(title: string, subject: ProviderUnderTest): void {
  describe(title, () => declareProviderTests(test, subject));
}
