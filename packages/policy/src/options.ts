import { isAbsolute, normalize } from "node:path";
import { checkOptions, isPlainObject } from "@toolcrib/core";
import { createPathScope, homeFolder, isBelowAny } from "@toolcrib/core/files";
import { compileProtected, ownFolders, type ProtectedPath, protectedPaths } from "./judge/protectedPaths.ts";
import type { RememberedStore } from "./remembered/store.ts";
import { compileRules, type PathPlaces } from "./rules/compileRules.ts";
import type { Settings } from "./settings.ts";
import { type Mode, modes } from "./verdict.ts";

/** Another place, where its tools were given more than roots. */
export interface PolicyPlace {
  readonly roots: string | readonly string[];
  /** As `denied` below: the `deny` that its tools were given. */
  readonly denied?: readonly string[] | undefined;
}

export interface PolicyOptions {
  /** What happens where no rule decides. Default: `ask`. */
  mode?: Mode | undefined;
  /** The folders that the modes let calls work in, and that relative path patterns start from. Default: `cwd`. */
  roots?: string | readonly string[] | undefined;
  /**
   * The roots in other places, by the name that effects have as `place`: `{ "docker:web": "/app" }`. Absolute paths there. A place that is
   * not named has none, so that what happens there is asked about.
   */
  places?: Readonly<Record<string, string | readonly string[] | PolicyPlace>> | undefined;
  /** Folders that may be read as the roots may. */
  readable?: readonly string[] | undefined;
  /** Rules of calls that run without a question. */
  allow?: readonly string[] | undefined;
  /** Rules of calls that are asked about, whatever allows them. */
  ask?: readonly string[] | undefined;
  /** Rules of calls that never run. */
  deny?: readonly string[] | undefined;
  /**
   * The `deny` option of the packs, where they have one: what they leave out of searches themselves, so that a rule with the same
   * pattern need not forbid searching a folder that holds such a file.
   */
  denied?: readonly string[] | undefined;
  /** Where yeses that hold for good are kept: a `fileStore`, a `memoryStore` or one of your own. Left out: nothing is remembered. */
  remembered?: RememberedStore | undefined;
  /** More protected paths, as path patterns. */
  protect?: readonly string[] | undefined;
  /** Where relative paths start, and commands whose call names no directory. Default: the first root, else the process's. */
  cwd?: string | undefined;
  /** What `~/` means in patterns, an absolute path. Default: the user's home. */
  home?: string | undefined;
}

const known = {
  mode: true,
  roots: true,
  places: true,
  readable: true,
  allow: true,
  ask: true,
  deny: true,
  denied: true,
  remembered: true,
  protect: true,
  cwd: true,
  home: true,
} as const;

/** Throws a TypeError for an option or a rule that cannot be meant. */
export function readOptions(options: PolicyOptions): Settings {
  checkOptions("createPolicy", options, known);
  const { mode = "ask", allow = [], ask = [], deny = [], home } = options;
  if (!modes.includes(mode)) {
    throw new TypeError(
      `createPolicy: mode must be one of ${modes.join(", ")}, got ${JSON.stringify(mode) ?? typeof mode}`,
    );
  }
  const scope = createPathScope(options.cwd === undefined ? {} : { cwd: options.cwd });
  const roots = foldersOf(options.roots ?? options.cwd ?? process.cwd());
  const readable = options.readable === undefined || options.readable.length === 0 ? [] : foldersOf(options.readable);
  const others = placesOf(options.places);
  const own = texts("protect", options.protect).map(
    (pattern): ProtectedPath => ({ pattern, why: "it was named as protected" }),
  );
  const from = (places: PathPlaces) => ({
    roots: places.roots,
    places,
    rules: {
      allow: compileRules("allow", allow, places),
      ask: compileRules("ask", ask, places),
      deny: compileRules("deny", deny, places),
    },
    protectedPaths: compileProtected([...protectedPaths, ...ownFolders(process.env), ...own], places),
  });
  const made = new Map<string, Settings>();
  const here: Settings = {
    mode,
    scope: options.cwd === undefined ? createPathScope({ cwd: roots[0] }) : scope,
    readable,
    ...from({ roots, home: homeOf(home) }),
    remembered: storeOf(options.remembered, [...roots, scope.cwd]),
    denied: new Set(texts("denied", options.denied)),
    elsewhere(place) {
      const found = made.get(place) ?? {
        ...here,
        readable: [],
        denied: others.get(place)?.denied ?? new Set(),
        ...from({ roots: others.get(place)?.roots ?? [], home: undefined }),
      };
      if (others.has(place)) made.set(place, found);
      return found;
    },
  };
  return here;
}

/** Paths of other places: nothing here can resolve them. */
function placesOf(given: unknown): ReadonlyMap<string, Pick<Settings, "roots" | "denied">> {
  const refuse = (): never => {
    throw new TypeError("createPolicy: places must be an object of absolute paths by the name of their place");
  };
  if (given === undefined) return new Map();
  if (!isPlainObject(given)) return refuse();
  return new Map(
    Object.entries(given).map(([place, value]) => {
      const { roots: own, denied } = isPlainObject(value) ? value : { roots: value, denied: undefined };
      const roots = [own].flat();
      if (!roots.every((root): root is string => typeof root === "string" && isAbsolute(root))) return refuse();
      const patterns = texts(`denied of the place ${place}`, denied);
      return [place, { roots: roots.map((root) => normalize(root)), denied: new Set(patterns) }];
    }),
  );
}

/** Protected paths cannot be told without one. */
function homeOf(given: unknown): string {
  if (given !== undefined) {
    if (typeof given === "string" && isAbsolute(given)) return given;
    throw new TypeError("createPolicy: home must be an absolute path");
  }
  const found = homeFolder();
  if (found !== undefined) return found;
  throw new TypeError(
    "createPolicy: the user's home is not known, since HOME is not an absolute path; set it, or pass the option home",
  );
}

function foldersOf(given: string | readonly string[]): readonly string[] {
  return createPathScope({ root: given }).roots ?? [];
}

/** What decides about an agent must not lie where the agent may write. */
function storeOf(store: RememberedStore | undefined, folders: readonly string[]): RememberedStore | undefined {
  if (store === undefined) return undefined;
  if (typeof store?.load !== "function" || typeof store.change !== "function") {
    throw new TypeError("createPolicy: remembered must be a store, such as fileStore(path)");
  }
  const path = "path" in store ? store.path : undefined;
  if (typeof path !== "string" || !isBelowAny(path, folders)) return store;
  throw new TypeError(
    "createPolicy: the file of remembered answers is below a root, where an agent may write; keep it elsewhere, such as in the user's state folder",
  );
}

function texts(option: string, given: unknown): readonly string[] {
  if (given === undefined) return [];
  if (Array.isArray(given) && given.every((one) => typeof one === "string")) return given;
  throw new TypeError(`createPolicy: ${option} must be an array of path patterns`);
}
