import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type ToolEffect } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { linesOf } from "../../../testing/shell/corpora.ts";
import { createPolicy, type PolicyOptions } from "./index.ts";
import type { Decision } from "./verdict.ts";

/** The long suite asks more often, with other seeds. */
const numRuns = Number(process.env.TOOLCRIB_PRECEDENCE_RUNS ?? 15);

const root = sharedFolder("policy");

beforeAll(() => {
  for (const folder of ["src/lib", "docs", ".git"]) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["src/a.ts", "src/lib/b.ts", ".env", "docs/x.md", ".git/config"])
    writeFileSync(join(root, file), "");
  symlinkSync("/etc", join(root, "out"));
});

const places = linesOf("precedence", "places");
const patterns = ["src/**", "src/", "*.ts", ".env", "docs/x.md", ".git/", ".git/config", "/etc/", "**", "new"];
const commands = linesOf("precedence", "commands");
const commandRules = linesOf("precedence", "rules of commands");
const kinds = ["read", "write", "delete"] as const;

const rule = fc.oneof(
  fc.constantFrom("own", ...commandRules, "effect:network", "effect:network(a.test)", "effect:execute"),
  fc.constantFrom(...kinds).map((kind) => `effect:${kind}`),
  fc
    .tuple(fc.constantFrom(...kinds), fc.constantFrom(...patterns))
    .map(([kind, pattern]) => `effect:${kind}(${pattern})`),
  fc.constantFrom(...patterns).map((pattern) => `own(${pattern})`),
);
const rules = fc.uniqueArray(rule, { maxLength: 4 });
const lists = fc.record({ allow: rules, ask: rules, deny: rules });
const mode = fc.constantFrom("ask", "read-only", "accept-edits", "full" as const);

type Thing =
  | { readonly place: string; readonly kind: (typeof kinds)[number]; readonly tree: boolean }
  | { readonly command: string }
  | { readonly host: string };
const thing: fc.Arbitrary<Thing> = fc.oneof(
  fc.record({ place: fc.constantFrom(...places), kind: fc.constantFrom(...kinds), tree: fc.boolean() }),
  fc.constantFrom(...commands).map((command) => ({ command })),
  fc.constant({ host: "a.test" }),
);

function effectOf(given: Thing): ToolEffect {
  if ("host" in given) return { kind: "network", host: given.host };
  if ("command" in given) return { kind: "execute", command: given.command, cwd: root };
  return { kind: given.kind, path: join(given.place.startsWith("/") ? "/" : root, given.place), tree: given.tree };
}

async function decide(options: PolicyOptions, things: readonly Thing[]): Promise<Decision> {
  const isCommand = things.some((one) => "command" in one);
  const tool = defineTool({
    name: isCommand ? "run_bash" : "own",
    description: "x",
    parameters: { type: "object" },
    execute: () => "",
  });
  const effects = things.map(effectOf);
  const policy = createPolicy({ roots: root, home: join(root, "home"), ...options });
  const call = {
    name: tool.name,
    args: {},
    tool,
    origin: "own",
    effects,
    callId: undefined,
    labels: undefined,
    signal: undefined,
  };
  const { decision } = await policy.explain(call);
  const guarded = await policy.guard(call);
  expect(guarded === true ? "allow" : typeof guarded === "object" && "ask" in guarded ? "ask" : "deny").toBe(decision);
  return decision;
}

const rank = (decision: Decision): number => ["allow", "ask", "deny"].indexOf(decision);

/** Returns whether `next` is at least as strict as `before`, whatever the rules, the mode and the call. */
async function neverLooser(
  change: (options: PolicyOptions, extra: string) => [before: PolicyOptions, next: PolicyOptions],
): Promise<void> {
  const property = fc.asyncProperty(
    lists,
    mode,
    rule,
    fc.array(thing, { minLength: 1, maxLength: 3 }),
    async (given, one, extra, things) => {
      const [before, next] = change({ ...given, mode: one }, extra);
      expect(rank(await decide(next, things))).toBeGreaterThanOrEqual(rank(await decide(before, things)));
    },
  );
  await fc.assert(property, { numRuns });
}

describe("for random rules, modes and calls", () => {
  test("one more rule of deny or ask never lets more run", async () => {
    await neverLooser((options, extra) => [options, { ...options, deny: [...(options.deny ?? []), extra] }]);
    await neverLooser((options, extra) => [options, { ...options, ask: [...(options.ask ?? []), extra] }]);
  });

  test("one rule of allow fewer never lets more run", async () => {
    await neverLooser((options, extra) => [{ ...options, allow: [...(options.allow ?? []), extra] }, options]);
  });

  test("a mode that is stricter never lets more run", async () => {
    for (const [looser, stricter] of [
      ["full", "accept-edits"],
      ["accept-edits", "ask"],
      ["ask", "read-only"],
    ] as const) {
      await neverLooser((options) => [
        { ...options, mode: looser },
        { ...options, mode: stricter },
      ]);
    }
  });

  test("the same rule denies more than it asks about, and asks more than it allows", async () => {
    await neverLooser((options, extra) => [
      { ...options, allow: [...(options.allow ?? []), extra] },
      { ...options, ask: [...(options.ask ?? []), extra] },
    ]);
    await neverLooser((options, extra) => [
      { ...options, ask: [...(options.ask ?? []), extra] },
      { ...options, deny: [...(options.deny ?? []), extra] },
    ]);
  });

  test("a call with several effects is decided as strictly as each of them", async () => {
    const property = fc.asyncProperty(
      lists,
      mode,
      fc.array(thing, { minLength: 2, maxLength: 4 }),
      async (given, one, things) => {
        const files = things.filter((each) => !("command" in each));
        if (files.length < 2) return;
        const options = { ...given, mode: one };
        const each = await Promise.all(files.map((file) => decide(options, [file])));
        expect(rank(await decide(options, files))).toBe(Math.max(...each.map(rank)));
      },
    );
    await fc.assert(property, { numRuns });
  });
});
