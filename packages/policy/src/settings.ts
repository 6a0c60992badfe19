import type { PathScope } from "@toolcrib/kit/files";
import type { ProtectedMatcher } from "./judge/protectedPaths.ts";
import type { RememberedStore } from "./remembered/store.ts";
import type { PathBases, RuleList } from "./rules/compileRules.ts";
import type { Decision, Mode } from "./verdict.ts";

/** Where the program that uses a policy keeps what decides about calls. */
export interface OwnState {
  /** Absolute paths of folders that no call changes, whatever allows it. */
  readonly folders: readonly string[];
  /** Why, for a refusal: `it is where … keeps what the user has allowed, so no tool changes it`. */
  readonly why: string;
  /**
   * Protected names of files in a root, which are asked about by any other name too: a link to one, a folder around it. What each decides:
   * `says what may run here`.
   */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Where these files are. Default: the roots of the policy. */
  readonly roots?: readonly string[] | undefined;
}

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
