import type { JsonSchema, ToolTraits } from "@toolcrib/core";
import { canonicalJson, isPlainObject, quote, walkSchema } from "@toolcrib/core/internal";
import { argumentAt, argumentsOf } from "./argumentPath.ts";
import { compareArguments, compareSchemas, madeOptional, type SchemaChange } from "./compareSchemas.ts";
import { descriptionsOf, type ToolContract, type ToolManifest } from "./toolContract.ts";

/** A difference in one tool between two versions of its package. */
export interface ContractChange {
  readonly tool: string;
  readonly kind: SchemaChange["kind"] | "tool-gone" | "tool-added" | "origin" | "traits" | "data" | "words";
  /** `breaking` breaks callers, prompts or permissions; an `addition` takes or offers more; `wording` is what the model reads. */
  readonly severity: "breaking" | "addition" | "wording";
  /** The argument, such as `edits[].old_text`; empty where the change is about the whole tool. */
  readonly path: string;
  /** One or two sentences for whoever uses the tool. */
  readonly message: string;
}

type Findings = Omit<ContractChange, "tool">[];

/** Lists what a user of `before` meets in `after`, tool by tool; none for the same contracts. */
export function compareManifests(
  before: Pick<ToolManifest, "tools">,
  after: Pick<ToolManifest, "tools">,
): ContractChange[] {
  const now = new Map(after.tools.map((tool) => [tool.name, tool]));
  const known = new Set(before.tools.map(({ name }) => name));
  const changes = before.tools.flatMap((tool): ContractChange[] => {
    const next = now.get(tool.name);
    if (next) return compareTools(tool, next).map((finding) => ({ tool: tool.name, ...finding }));
    const message = `The tool ${tool.name} is gone. Programs and prompts that call it get an error.`;
    return [{ tool: tool.name, kind: "tool-gone", severity: "breaking", path: "", message }];
  });
  const added = after.tools.filter(({ name }) => !known.has(name));
  return [
    ...changes,
    ...added.map(({ name }): ContractChange => {
      return { tool: name, kind: "tool-added", severity: "addition", path: "", message: `The tool ${name} is new.` };
    }),
  ];
}

function compareTools(before: ToolContract, after: ToolContract): Findings {
  const taken = compareArguments(before, after);
  const changes = [
    ...taken.map((change) => describe(after.name, change)),
    ...identityChanges(before, after),
    ...dataChanges(before, after),
    ...wordChanges(before, after, taken),
  ];
  if (changes.length > 0 || before.fingerprint === after.fingerprint) return changes;
  // Such as a title or an example: no call fails, but answers remembered for the tool are void.
  const message = `${after.name} has another fingerprint, so remembered answers about it no longer apply.`;
  return [{ kind: "words", severity: "wording", path: "", message }];
}

function describe(tool: string, { kind, path, detail }: SchemaChange): Findings[number] {
  const argument = path === "" ? "its arguments" : `the argument "${path}"`;
  const breaking = (message: string): Findings[number] => ({ kind, severity: "breaking", path, message });
  const addition = (message: string): Findings[number] => ({ kind, severity: "addition", path, message });
  switch (kind) {
    case "argument-required": {
      const needs = detail.includes("new") ? `a new argument "${path}"` : `${argument}, which was optional`;
      return breaking(`${tool} needs ${needs}. Callers that leave it out get an error.`);
    }
    case "argument-gone":
      return breaking(`${tool} no longer takes ${argument}. Callers that pass it get an error.`);
    case "narrowed":
      return breaking(
        `${tool} takes less in ${argument}: it ${detail}. Callers that pass a value that no longer fits get an error.`,
      );
    case "default":
      return breaking(
        `${tool} has another default for ${argument}: it ${detail}. Callers that leave it out get another result.`,
      );
    case "incomparable":
      return breaking(`${tool} may take less in ${argument}: it ${detail}. Callers may get an error.`);
    case "argument-added":
      return addition(`${tool} takes a new optional argument "${path}".`);
    case "widened":
      return addition(`${tool} takes more in ${argument}: it ${detail}.`);
  }
}

function identityChanges(before: ToolContract, after: ToolContract): Findings {
  const found: Findings = [];
  const breaking = (kind: "origin" | "traits", message: string): void => {
    found.push({ kind, severity: "breaking", path: "", message });
  };
  if (before.origin !== after.origin) {
    breaking(
      "origin",
      `${after.name} comes from ${quote(after.origin)}, before from ${quote(before.origin)}. Rules and remembered answers for it no longer apply.`,
    );
  }
  const traits = Object.keys({ ...before.traits, ...after.traits }) as (keyof ToolTraits)[];
  for (const trait of traits) {
    const [was, is] = [before.traits[trait], after.traits[trait]];
    if (was === is) continue;
    const [old, now] = [was, is].map((value) => value ?? "not stated");
    breaking(
      "traits",
      `${after.name} has a changed trait: ${trait} was ${old} and is ${now}. Permissions that depend on it may decide differently.`,
    );
  }
  return found;
}

/**
 * Compares the data that programs read: whatever comes now must have been possible before, except fields that are new, and no
 * field is gone.
 */
function dataChanges({ outputSchema: was }: ToolContract, { name, outputSchema: is }: ToolContract): Findings {
  if (canonicalJson(was) === canonicalJson(is)) return [];
  const breaking = (path: string, message: string): Findings[number] => ({
    kind: "data",
    severity: "breaking",
    path,
    message,
  });
  if (is === undefined) return [breaking("", `${name} no longer returns data. Programs that read it get none.`)];
  if (was !== undefined) {
    const gone = goneFields(was, is).map((path) => ({ path, how: "is no longer given" }));
    const isGone = new Set(gone.map(({ path }) => path));
    const changes = compareSchemas(was, is);
    const broken = changes
      .filter(({ kind, path }) => /widened|incomparable/.test(kind) && !isGone.has(path))
      .map(({ path, detail }) => ({ path, how: detail === madeOptional ? "may be missing" : detail }));
    if (gone.length + broken.length > 0) {
      return [...gone, ...broken].map(({ path, how }) => {
        const field = path === "" ? "Its data" : `The field "${path}" of its data`;
        return breaking(path, `${name} returns other data. ${field} ${how}. Programs that read it may fail.`);
      });
    }
    if (changes.length === 0) return [];
  }
  const message =
    was === undefined ? `${name} returns data besides its text.` : `${name} returns more data, or more exact data.`;
  return [{ kind: "data", severity: "addition", path: "", message }];
}

/** Lists fields that are gone: of those inside one another only the outer one. */
function goneFields(before: JsonSchema, after: JsonSchema): string[] {
  const now = fieldsOf(after);
  const gone = [...fieldsOf(before)].filter((path) => !now.has(path));
  const isInside = (path: string, outer: string): boolean => /^(?:\.|\[\])/.test(path.slice(outer.length));
  return gone.filter((path) => !gone.some((outer) => path.startsWith(outer) && isInside(path, outer)));
}

function fieldsOf(schema: JsonSchema): Set<string> {
  const fields = new Set<string>();
  const nameOf = argumentsOf(schema);
  walkSchema(schema, ({ properties }, at) => {
    for (const [name, field] of Object.entries(isPlainObject(properties) ? properties : {}))
      if (field !== false) fields.add(nameOf(at) === "" ? name : `${nameOf(at)}.${name}`);
  });
  return fields;
}

function wordChanges(before: ToolContract, after: ToolContract, changed: readonly SchemaChange[]): Findings {
  if (before.words === after.words) return [];
  const [old, now] = [descriptionsOf(before.parameters), descriptionsOf(after.parameters)];
  const isToldBefore = new Set(changed.filter(({ kind }) => /gone|added|required/.test(kind)).map(({ path }) => path));
  const places = [...new Set([...old.keys(), ...now.keys()])]
    .filter((at) => old.get(at) !== now.get(at))
    .map((at) => argumentAt(at) || "its arguments");
  const reworded = places.filter((path) => !isToldBefore.has(path));
  const parts = [...(before.description === after.description ? [] : ["the tool"]), ...new Set(reworded)];
  if (parts.length === 0) return [];
  const message = `${after.name} is described differently: ${parts.join(", ")}.`;
  return [{ kind: "words", severity: "wording", path: "", message }];
}
