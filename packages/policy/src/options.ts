import { isAbsolute, normalize } from "node:path";
import {
  isPlainObject,
  type OptionSpec,
  type OptionSpecs,
  option,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import {
  compilePathPatterns,
  createPathScope,
  homeFolder,
  isBelowAny,
  protectedPaths,
  readPatternList,
  refuseChoices,
} from "@toolcrib/kit/files";
import {
  compileProtected,
  exactPattern,
  namedByGit,
  type OwnState,
  ownFolders,
  type ProtectedEntry,
  stateFolders,
} from "./judge/protectedPaths.ts";
import type { FileKind } from "./programs/record.ts";
import type { RememberedStore } from "./remembered/store.ts";
import { compileRules, type Groups, type PathBases } from "./rules/compileRules.ts";
import type { Settings } from "./settings.ts";
import { type Mode, modes } from "./verdict.ts";

/** A remote whose tools were given more than roots. */
export interface PolicyRemote {
  readonly roots: string | readonly string[];
  /** As `denied` below: the `deny` that its tools were given. */
  readonly denied?: readonly string[] | undefined;
}

export interface PolicyOptions {
  /** The decision if no rule matches. Default: `ask`. */
  mode?: Mode | undefined;
  /** The folders that the modes let calls work in, and that relative path patterns start from. Default: `cwd`. */
  roots?: string | readonly string[] | undefined;
  /**
   * The roots of remotes, by the name that effects have as `remote`: `{ "docker:web": "/app" }`. Absolute paths there. A remote that is
   * not named has none, so that what happens there is asked about.
   */
  remotes?: Readonly<Record<string, string | readonly string[] | PolicyRemote>> | undefined;
  /** Folders that may be read as the roots may. */
  readable?: readonly string[] | undefined;
  /** Rules of calls that run without a question. */
  allow?: readonly string[] | undefined;
  /** Rules of calls that need your answer, even if a rule allows them. */
  ask?: readonly string[] | undefined;
  /** Rules of calls that never run. */
  deny?: readonly string[] | undefined;
  /**
   * The `deny` option of the packs, where they have one: what they leave out of searches themselves, so that a rule with the same
   * pattern need not forbid searching a folder that holds such a file.
   */
  denied?: readonly string[] | undefined;
  /** The store of permanent answers: a `fileStore`, a `memoryStore` or one of your own. Left out: nothing is remembered. */
  remembered?: RememberedStore | undefined;
  /** More protected paths, as path patterns. */
  protect?: readonly string[] | undefined;
  /** Files of your program that decide about calls, so that no call changes them. */
  ownState?: OwnState | undefined;
  /** The directory that relative paths start from, and commands whose call names none. Default: the first root, else the process's. */
  cwd?: string | undefined;
  /** The directory that `~/` means in patterns, an absolute path. Default: the user's home. */
  home?: string | undefined;
}

const patterns: OptionSpec = { ...option.texts, expected: "an array of path patterns" };

const specs = {
  mode: withDefault(option.oneOf(...modes), "ask"),
  roots: true,
  remotes: true,
  readable: true,
  allow: true,
  ask: true,
  deny: true,
  denied: patterns,
  remembered: { ...option.withMethods("load", "change"), expected: "a store, such as fileStore(path)" },
  protect: patterns,
  ownState: true,
  cwd: true,
  home: {
    expected: "an absolute path",
    fits: (value) => typeof value === "string" && isAbsolute(value),
    otherwise: "HOME",
  },
} satisfies OptionSpecs<PolicyOptions>;

/** Throws a TypeError for an option or a rule that cannot be meant. */
export function settingsOf(options: PolicyOptions): Settings {
  const { mode, allow = [], ask = [], deny = [], home } = readOptions("createPolicy", options, specs);
  const scope = createPathScope(options.cwd === undefined ? {} : { cwd: options.cwd });
  const roots = foldersOf(options.roots ?? options.cwd ?? process.cwd());
  const readable = options.readable === undefined || options.readable.length === 0 ? [] : foldersOf(options.readable);
  const others = remotesOf(options.remotes);
  const { ownState } = options;
  const protect = readPatternList("protect", options.protect ?? []);
  const denied = readPatternList("denied", options.denied ?? []);
  const own: ProtectedEntry[] = [
    ...namedByGit(roots),
    ...protect.map((pattern) => ({ pattern, why: "it was named as protected" })),
    ...(ownState ? stateFolders(ownState) : []).map((folder) => ({
      pattern: exactPattern(folder),
      why: ownState?.why ?? "",
      never: true as const,
    })),
  ];
  const protectedList = [...protectedPaths, ...ownFolders(process.env), ...own];
  const bases: PathBases = { roots, home: homeOf(home) };
  const from = (bases: PathBases) => {
    const rules = {
      allow: compileRules("allow", allow, bases),
      ask: compileRules("ask", ask, bases),
      deny: compileRules("deny", deny, bases),
    };
    const protectedPaths = compileProtected(protectedList, bases);
    return { roots: bases.roots, bases, rules, ...rulesOfFiles(rules), protectedPaths };
  };
  const made = new Map<string, Settings>();
  const settings = from(bases);
  // After the rules: a program may make both from one flag, and the error then names the rule.
  compilePathPatterns(denied, bases);
  refuseChoices([...protect, ...denied], bases);
  const here = withFull({
    mode,
    scope: options.cwd === undefined ? createPathScope({ cwd: roots[0] }) : scope,
    readable,
    ...settings,
    ownState,
    remembered: storeOf(options.remembered, [...roots, scope.cwd]),
    denied: new Set(denied),
    elsewhere(remote) {
      const { roots: there = [], denied: deniedThere = new Set<string>() } = others.get(remote) ?? {};
      const found =
        made.get(remote) ??
        withFull({ ...here, readable: [], denied: deniedThere, ...from({ roots: there, home: undefined }) });
      if (others.has(remote)) made.set(remote, found);
      return found;
    },
  });
  return here;
}

/** Returns the groups about each kind of effect on files, whatever the tool, and the kinds that deny or ask is about. */
function rulesOfFiles(rules: Settings["rules"]): Pick<Settings, "ofFiles" | "limited"> {
  const of = (kind: FileKind): Groups => {
    const [allow, ask, deny] = [rules.allow, rules.ask, rules.deny].map((list) => [list.ofEffect(kind) ?? []].flat());
    return { allow: allow ?? [], ask: ask ?? [], deny: deny ?? [] };
  };
  const ofFiles = { read: of("read"), write: of("write"), delete: of("delete") };
  const kinds = Object.keys(ofFiles) as FileKind[];
  return {
    ofFiles,
    limited: new Set(kinds.filter((kind) => ofFiles[kind].deny.length + ofFiles[kind].ask.length > 0)),
  };
}

/** Adds the settings of the mode `full`. */
function withFull(settings: Omit<Settings, "inFull">): Settings {
  const inFull: Settings = {
    ...settings,
    mode: "full",
    get inFull() {
      return inFull;
    },
  };
  return settings.mode === "full" ? inFull : { ...settings, inFull };
}

/** Reads the paths of remotes, which nothing here can resolve. */
function remotesOf(given: unknown): ReadonlyMap<string, Pick<Settings, "roots" | "denied">> {
  const refuse = (): never => {
    throw new TypeError("createPolicy: remotes must be an object of absolute paths by the name of the remote");
  };
  if (given === undefined) return new Map();
  if (!isPlainObject(given)) return refuse();
  return new Map(
    Object.entries(given).map(([remote, value]) => {
      const { roots: own, denied } = isPlainObject(value) ? value : { roots: value, denied: undefined };
      const roots = [own].flat();
      if (!roots.every((root): root is string => typeof root === "string" && isAbsolute(root))) return refuse();
      if (denied !== undefined && !option.texts.fits(denied)) return refuse();
      return [
        remote,
        {
          roots: roots.map((root) => normalize(root)),
          denied: new Set(readPatternList("denied", (denied ?? []) as readonly string[])),
        },
      ];
    }),
  );
}

/** Returns the user's home. Throws if there is none, as protected paths cannot be told without it. */
function homeOf(given: string | undefined): string {
  const found = given ?? homeFolder();
  if (found !== undefined) return found;
  throw new TypeError(
    "createPolicy: the user's home is not known, since HOME is not an absolute path; set it, or pass the option home",
  );
}

function foldersOf(given: string | readonly string[]): readonly string[] {
  return createPathScope({ root: given }).roots ?? [];
}

/** Checks the store: what decides about an agent must not lie where the agent may write. */
function storeOf(store: RememberedStore | undefined, folders: readonly string[]): RememberedStore | undefined {
  const path = store && "path" in store ? store.path : undefined;
  if (typeof path !== "string" || !isBelowAny(path, folders)) return store;
  throw new TypeError(
    "createPolicy: the file of remembered answers is below a root, where an agent may write; keep it elsewhere, such as in the user's state folder",
  );
}
