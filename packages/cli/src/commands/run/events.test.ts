import { readFileSync } from "node:fs";
import type { AgentEvent } from "@toolcrib/agent";
import { expect, test } from "vitest";
import schema from "../../../events.schema.json" with { type: "json" };
import type { TurnEnd } from "../turnEnd.ts";

type Fields<Type extends AgentEvent["type"]> = Record<keyof Extract<AgentEvent, { type: Type }>, true>;

/** Does not compile once an event, or a field of one, joins the agent's: then it is due in `events.schema.json` too. */
const fieldsOf: { readonly [Type in AgentEvent["type"]]: Fields<Type> } = {
  "step-start": { type: true, step: true },
  "text-delta": { type: true, text: true, phase: true },
  "reasoning-delta": { type: true, text: true, isNote: true },
  "tool-call": { type: true, id: true, name: true, args: true, within: true },
  "tool-progress": { type: true, id: true, name: true, progress: true },
  "tool-result": {
    ...{ type: true, id: true, name: true, output: true, isError: true },
    ...{ content: true, data: true, within: true },
  },
  retry: { type: true, attempt: true, delayMs: true, message: true, discardText: true, remedy: true },
  usage: { type: true, usage: true, total: true, callId: true },
  steering: { type: true, text: true },
  "thinking-dropped": { type: true, blocks: true, reason: true },
  "unread-call": { type: true, name: true, problem: true, message: true },
  compaction: { type: true, summarisedMessages: true, leftOutMessages: true, cutMessages: true },
  end: { type: true, reason: true, text: true, detail: true, failed: true, pending: true },
};

const reasons: Readonly<Record<TurnEnd["reason"], true>> = {
  stop: true,
  "step-limit": true,
  "time-limit": true,
  "cost-limit": true,
  "cost-unknown": true,
  "token-limit": true,
  "context-limit": true,
  refusal: true,
  "content-filter": true,
  stuck: true,
  approval: true,
};

/** The fields that the command adds to the agent's event. */
const added = ["formatVersion", "ok", "output", "model", "usage", "sessionId", "toolCalls"];

test("the published schema knows every event of the agent with all of its fields, and every reason of an end", () => {
  type Definition = { properties: Record<string, { const?: unknown }> };
  const known = new Map(
    schema.oneOf.map(({ $ref }) => {
      const { properties } = (schema.$defs as unknown as Record<string, Definition>)[$ref.slice("#/$defs/".length)] ?? {
        properties: {},
      };
      return [properties.type?.const, Object.keys(properties).sort()];
    }),
  );
  const expected = Object.entries(fieldsOf).map(
    ([type, fields]) => [type, [...Object.keys(fields), ...(type === "end" ? added : [])].sort()] as const,
  );
  known.delete("error");
  expect(Object.fromEntries(known)).toEqual(Object.fromEntries(expected));
  expect([...schema.$defs.end.properties.reason.enum].sort()).toEqual(Object.keys(reasons).sort());
});

test("the schema is published with the package, in the version that the command prints", async () => {
  const { formatVersion } = await import("../../explain.ts");
  expect([schema.$defs.end, schema.$defs.error].map((one) => one.properties.formatVersion.const)).toEqual([
    formatVersion,
    formatVersion,
  ]);
  expect(schema.$id).toBe(`urn:toolcrib:events:${formatVersion}`);
  const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
    files: string[];
    exports: Record<string, unknown>;
  };
  expect(manifest.files).toContain("events.schema.json");
  expect(manifest.exports).toHaveProperty(["./events.schema.json"]);
});
