import type { PathScope } from "@toolcrib/kit/files";
import type { OwnState, ProtectedMatcher } from "./judge/protectedPaths.ts";
import type { RememberedStore } from "./remembered/store.ts";
import type { PathBases, RuleList } from "./rules/compileRules.ts";
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
  readonly bases: PathBases;
  readonly rules: Readonly<Record<Decision, RuleList>>;
  readonly protectedPaths: ProtectedMatcher;
  readonly ownState: OwnState | undefined;
  readonly remembered: RememberedStore | undefined;
  /** Patterns of paths that the packs leave out themselves. */
  readonly denied: ReadonlySet<string>;
  /** Returns the same for a remote, by its name: its roots, and no path of this machine. */
  elsewhere(remote: string): Settings;
}
