import { messageOf } from "@toolcrib/core/text";
import { createSemaphore } from "@toolcrib/kit/files";
import type { FindPackage } from "./available.ts";
import { type ContractChange, compareManifests } from "./compareManifests.ts";
import { type PackageVersion, type Project, rangeTakes } from "./installed.ts";

/** One package: where `problem` is there, the rest is what is known nonetheless. */
export interface PackageComparison {
  readonly package: string;
  readonly installed?: string;
  readonly available?: string;
  /** In the project's package.json; absent for a package that another one brought. */
  readonly range?: string;
  /** Absent where the range is none that can be told. */
  readonly rangeTakesIt?: boolean;
  /** Of the schemas of all its tools, estimated. */
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly changes?: readonly ContractChange[];
  readonly problem?: string;
}

/** Each asks npm, which is a process of its own. */
const mostAtOnce = 4;

/** Compares what a project has installed with what it could have: tools, arguments, words, tokens. Rejects when the signal fires. */
export async function comparePackages(
  { packages, ranges }: Project,
  find: FindPackage,
  signal?: AbortSignal,
): Promise<PackageComparison[]> {
  const few = createSemaphore(mostAtOnce);
  const compared = [...packages].map(([name, installed]) =>
    few(async (): Promise<PackageComparison> => {
      signal?.throwIfAborted();
      const range = "get" in ranges ? ranges.get(name) : undefined;
      const known = { package: name, ...(range !== undefined && { range }) };
      if (!("version" in installed)) {
        const problem = `node_modules/${name} is incomplete: ${installed.message}. Install again: npm install`;
        return { ...known, problem };
      }
      try {
        return { ...known, ...compare(installed, await find(name), range) };
      } catch (error) {
        signal?.throwIfAborted();
        const problem = `nothing to compare with: ${messageOf(error)}`;
        return { ...known, installed: installed.version, problem };
      }
    }),
  );
  // All have ended before the first failure is told: none leaves a process behind.
  const settled = await Promise.allSettled(compared);
  signal?.throwIfAborted();
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

function compare(
  installed: PackageVersion,
  available: PackageVersion,
  range: string | undefined,
): Omit<PackageComparison, "package"> {
  const takes = range === undefined ? undefined : rangeTakes(range, available.version);
  const known = {
    installed: installed.version,
    available: available.version,
    ...(takes !== undefined && { rangeTakesIt: takes }),
  };
  const [before, after] = [installed.tools, available.tools];
  if (!before && !after) return known;
  if (!before || !after) {
    const lacking = before ? available : installed;
    return {
      ...known,
      problem: `${lacking.version} publishes no manifest of its tools, so they cannot be compared; read its CHANGELOG.md`,
    };
  }
  const sum = ({ tools }: typeof before): number => tools.reduce((all, { tokens }) => all + tokens, 0);
  return { ...known, tokens: { before: sum(before), after: sum(after) }, changes: compareManifests(before, after) };
}
