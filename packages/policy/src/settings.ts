import type { PathScope } from "@toolcrib/kit/files";
import type { OwnState, ProtectedMatcher } from "./judge/protectedPaths.ts";
import type { FileKind } from "./programs/record.ts";
import type { RememberedStore } from "./remembered/store.ts";
import type { Groups, PathBases, RuleList } from "./rules/compileRules.ts";
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
  /** Those about effects of a kind on files, whatever the tool. */
  readonly ofFiles: Readonly<Record<FileKind, Groups>>;
  /** The kinds that a rule of deny or ask is about. */
  readonly limited: ReadonlySet<FileKind>;
  /** The same where the mode lets everything happen, so that only what is forbidden or protected counts. */
  readonly inFull: Settings;
  readonly protectedPaths: ProtectedMatcher;
  readonly ownState: OwnState | undefined;
  readonly remembered: RememberedStore | undefined;
  /** Patterns of paths that the packs leave out themselves. */
  readonly denied: ReadonlySet<string>;
  /** Returns the same for a remote, by its name: its roots, and no path of this machine. */
  elsewhere(remote: string): Settings;
}
