import type { PathScope } from "@toolcrib/kit/files";
import type { ProtectedMatcher } from "./judge/protectedPaths.ts";
import type { RememberedStore } from "./remembered/store.ts";
import type { PathPlaces, RuleList } from "./rules/compileRules.ts";
import type { Decision, Mode } from "./verdict.ts";

/** The options of a policy, checked and compiled. */
export interface Settings {
  readonly mode: Mode;
  /** Resolves paths that shell lines name; confines nothing. */
  readonly scope: PathScope;
  /** Canonical. */
  readonly roots: readonly string[];
  /** Canonical folders that may be read beside the roots. */
  readonly readable: readonly string[];
  readonly places: PathPlaces;
  readonly rules: Readonly<Record<Decision, RuleList>>;
  readonly protectedPaths: ProtectedMatcher;
  readonly remembered: RememberedStore | undefined;
  /** Patterns of paths that the packs leave out themselves. */
  readonly denied: ReadonlySet<string>;
  /** The same for a remote, by its name: its roots, and no path of this machine. */
  elsewhere(remote: string): Settings;
}
