// The places where skills lie below folders, each real folder once.
import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { isObject, printableName } from "@toolcrib/core/text";
import { isInside, readSmallFile } from "@toolcrib/kit/files";

/** Most folders below the first level that are searched though they are no skills, of all folders together. */
const maxGroupFolders = 1000;
/** Most other Markdown files of a folder that are looked at, and their characters. */
const [maxOtherFiles, maxHead] = [100, 2048];

/** A folder of skills. */
export interface SkillFolder {
  /** Its path; a folder that does not exist holds no skills. */
  path: string;
  /** A folder that no skill may lie outside of once links are followed: the project that it belongs to. Default: no limit. */
  within?: string;
}

/** A skill's file where it was found, and without links: "" if it is a link itself. */
export interface SkillPlace {
  readonly path: string;
  readonly file: string;
  readonly folder: string;
  /** The real folder that it must lie in; "" for any. */
  readonly limit: string;
}

const skillFile = "SKILL.md";

/** Returns whether a folder's own file is named as it should be, for which it need not be listed. Elsewhere names may differ in case. */
function holdsSkill(real: string): boolean {
  if (process.platform !== "linux") return false;
  return attempt(() => lstatSync(entryOf(real, skillFile), { throwIfNoEntry: false })?.isFile()) === true;
}

/** Returns the name of a skill's file among those of its folder; some write it in small letters. */
export function skillFileOf(names: readonly string[]): string | undefined {
  return names.includes(skillFile) ? skillFile : names.find((name) => /^skill\.md$/i.test(name));
}

/** Returns the path of an entry. Node's `join` would read the whole path anew. */
function entryOf(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

/** A search for skills through several folders. */
export class SkillPlaces {
  readonly #warnings: string[];
  /** Real folders, each with the limit under which it was reached. */
  readonly #reached: Set<string> = new Set();
  #groupFolders = 0;

  constructor(warnings: string[]) {
    this.#warnings = warnings;
  }

  /** Yields the skills below a folder: those of the first level in the order of their names, then those of groups. */
  *below({ path, within }: SkillFolder): Generator<SkillPlace, void> {
    const limit = within === undefined ? "" : attempt(() => realpathSync.native(within));
    if (limit === undefined) {
      this.#leftOut(path, `, because ${printableName(within ?? "")}, which it should be within, cannot be opened`);
      return;
    }
    const queue: { folder: string; depth: number; known?: string }[] = [{ folder: resolve(path), depth: 0 }];
    for (const { folder, depth, known } of queue) {
      const real = this.#enter(folder, limit, known);
      if (real === undefined) continue;
      if (depth > 0 && holdsSkill(real)) {
        yield { path: entryOf(folder, skillFile), file: entryOf(real, skillFile), folder: real, limit };
        continue;
      }
      const entries = this.#list(folder, real);
      const file = skillFileOf(entries.map(({ name }) => name));
      if (file !== undefined && depth > 0) {
        // Opening it follows no link, whatever has become of it.
        const isLink = entries.find(({ name }) => name === file)?.isFile() !== true;
        yield { path: entryOf(folder, file), file: isLink ? "" : entryOf(real, file), folder: real, limit };
        continue;
      }
      if (depth > 1) this.#groupFolders += 1;
      if (depth > 1 && this.#groupFolders > maxGroupFolders) {
        this.#leftOut(folder, ` with all that follow, because ${maxGroupFolders} folders are searched at most`);
        return;
      }
      if (file !== undefined) this.#leftOut(entryOf(folder, file), ", because it is not in a folder of its own");
      if (depth < 2) this.#nameOthers(folder, entries);
      for (const entry of entries) {
        const isForeign = depth > 0 && (entry.name === ".git" || entry.name === "node_modules");
        if (isForeign || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
        const below = { folder: entryOf(folder, entry.name), depth: depth + 1 };
        queue.push(entry.isDirectory() ? { ...below, known: entryOf(real, entry.name) } : below);
      }
    }
  }

  /** Returns a folder without links (`known`, if its parent listed it as one); undefined if it has been reached before, or may not be. */
  #enter(folder: string, limit: string, known?: string): string | undefined {
    const real = known ?? this.#tryTo(folder, () => realpathSync.native(folder));
    const key = `${limit}\0${real}`;
    if (real === undefined || this.#reached.has(key)) return undefined;
    this.#reached.add(key);
    if (limit === "" || isInside(limit, real)) return real;
    this.#leftOut(folder, `, because it leads to ${printableName(real)}, outside of the project`);
    return undefined;
  }

  /** Returns the entries of a folder, sorted. */
  #list(folder: string, real: string): Dirent[] {
    const entries = this.#tryTo(folder, () => readdirSync(real, { withFileTypes: true })) ?? [];
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Warns of a folder that cannot be read, but for one that is not there, or is none. */
  #tryTo<Found>(folder: string, read: () => Found): Found | undefined {
    try {
      return read();
    } catch (error) {
      const code = isObject(error) ? error.code : undefined;
      if (code !== "ENOENT" && code !== "ENOTDIR")
        this.#leftOut(folder, `, because it cannot be read (${String(code)})`);
      return undefined;
    }
  }

  /** Names files that begin as a skill does, but are none by their name. */
  #nameOthers(folder: string, entries: readonly Dirent[]): void {
    const others = entries.filter((entry) => entry.isFile() && /(?<!^skill)\.(?:md|markdown)$/i.test(entry.name));
    for (const { name } of others.slice(0, maxOtherFiles)) {
      const file = entryOf(folder, name);
      const head = readSmallFile(file).slice(0, maxHead);
      const isSkill = /^\ufeff?---[ \t]*\r?\n/.test(head) && /^name:/m.test(head) && /^description:/m.test(head);
      if (isSkill) this.#leftOut(file, ", because a skill is a file named SKILL.md in a folder of its own");
    }
  }

  #leftOut(path: string, why: string): void {
    this.#warnings.push(`${printableName(path)}: left out${why}`);
  }
}
