import type { ExecutableTool, JsonSchema, ToolListing, ToolTraits } from "@toolcrib/core";
import { ToolRegistry, toolFingerprint } from "@toolcrib/core";
import { canonicalJson, isLegalName, isPlainObject, mostLevels, traitsOf, walkSchema } from "@toolcrib/core/internal";
import { isTooDeep } from "./compareSchemas.ts";

/** The properties of a tool that a model, a caller and a policy rely on. */
export interface ToolContract {
  readonly name: string;
  /** SHA-256 of name, origin, parameters without descriptions, and traits: `toolFingerprint`. */
  readonly fingerprint: string;
  /** SHA-256 of the descriptions. */
  readonly words: string;
  /** The tokens that its schema takes of each request, estimated. */
  readonly tokens: number;
  readonly origin: string;
  readonly traits: ToolTraits;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Values of arguments that are left out, by their path, if the schema does not state them. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** The tools of one version of a package, with the package's default options: its `manifest.json`. */
export interface ToolManifest {
  readonly manifestVersion: 1;
  readonly package: string;
  readonly tools: readonly ToolContract[];
}

/** Of the JSON of schemas in English; tokenizers differ by a quarter and more. */
export const charactersPerToken = 4;

/** Estimates how many tokens the schema of a tool takes of each request, by its length. */
export function estimateTokens({
  name,
  description,
  parameters,
}: Pick<ToolListing, "name" | "description" | "parameters">): number {
  const schema = { type: "function", function: { name, description, parameters, strict: false } };
  return Math.ceil(JSON.stringify(schema).length / charactersPerToken);
}

/** Makes the manifest of a package's tools. Throws a ToolError for a tool that no registry takes. */
export function createManifest(packageName: string, tools: readonly ExecutableTool[]): ToolManifest {
  const listings = new ToolRegistry([...tools]).listTools();
  const contracts = listings.map((listing, index) => toolContract(listing, tools[index]?.defaults));
  return { manifestVersion: 1, package: packageName, tools: contracts };
}

function toolContract(listing: ToolListing, defaults: ExecutableTool["defaults"]): ToolContract {
  const { name, description, origin, parameters, outputSchema } = listing;
  return {
    name,
    fingerprint: toolFingerprint(listing),
    words: descriptionsDigest(listing),
    tokens: estimateTokens(listing),
    origin,
    traits: traitsOf(listing),
    description,
    parameters,
    ...(defaults && { defaults }),
    ...(outputSchema && { outputSchema }),
  };
}

/** Hashes what `toolFingerprint` leaves out: SHA-256, in hex, of the descriptions of a tool and of its arguments. */
function descriptionsDigest({ description, parameters }: ToolListing): string {
  // Not imported: node:crypto takes 8 ms to load.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const words = { description, parameters: Object.fromEntries(descriptionsOf(parameters)) };
  return createHash("sha256").update(canonicalJson(words)).digest("hex");
}

/** Returns the descriptions in a schema, each with the JSON Pointer of what it describes. */
export function descriptionsOf(schema: JsonSchema): Map<string, unknown> {
  const found = new Map<string, unknown>();
  walkSchema(schema, ({ description }, at) => {
    if (description !== undefined) found.set(at, description);
  });
  return found;
}

/** Takes the JSON of a manifest. Throws a TypeError that says what is wrong with it. */
export function readManifest(value: unknown): ToolManifest {
  const wrong = (what: string): TypeError => new TypeError(`not a manifest of tools: ${what}`);
  if (!isPlainObject(value)) throw wrong("it must be an object");
  const { manifestVersion, package: packageName, tools } = value;
  if (manifestVersion !== 1) throw wrong("its manifestVersion must be 1; a newer toolcrib may read it");
  if (typeof packageName !== "string") throw wrong("package must be a string");
  if (!Array.isArray(tools)) throw wrong("tools must be an array");
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const problem = contractProblem(tool);
    if (problem) throw wrong(`tools[${index}] ${problem}`);
    if (names.has(tool.name)) throw wrong(`tools[${index}] has the name of another`);
    names.add(tool.name);
  }
  return { manifestVersion, package: packageName, tools };
}

function contractProblem(tool: unknown): string | undefined {
  if (!isPlainObject(tool)) return "must be an object";
  for (const field of ["name", "fingerprint", "words", "origin", "description"]) {
    if (typeof tool[field] !== "string") return `needs ${field}, a string`;
  }
  // It is printed.
  if (!isLegalName(String(tool.name))) return "needs a name that matches ^[a-zA-Z0-9_-]{1,64}$";
  if (!Number.isFinite(tool.tokens)) return "needs tokens, a number";
  for (const field of ["traits", "parameters"]) if (!isPlainObject(tool[field])) return `needs ${field}, an object`;
  const isTrait = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  if (!Object.values(tool.traits ?? {}).every(isTrait)) return "has traits that are neither true nor false";
  const isWrong = (value: unknown): boolean => value !== undefined && !isPlainObject(value);
  for (const field of ["outputSchema", "defaults"]) if (isWrong(tool[field])) return `has ${field} that is no object`;
  for (const field of ["parameters", "outputSchema", "defaults"]) {
    const value = tool[field];
    if (isPlainObject(value) && isTooDeep(value)) return `has ${field} nested deeper than ${mostLevels} levels`;
  }
  return undefined;
}
