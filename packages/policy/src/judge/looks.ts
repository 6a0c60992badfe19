import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import nodePath, { dirname, isAbsolute, resolve } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { canonicalOrUndefined, isOnOtherShare, systemErrorCode } from "@toolcrib/kit/files";
import {
  type Content,
  compilePart,
  type EntryStats,
  hasPattern,
  type Listing,
  listBelow,
  shellPath,
} from "./folders.ts";

/** For all folders that are looked through: a line may name thousands of them. */
const mostNames = 20_000;
/** In bytes: a folder with about 40,000 names on most file systems. Reading it would keep a decision waiting. */
const largestFolder = 2 ** 20;
/** For what words may name: names looked at, and paths judged. As much as keeps a decision below about 0.1 s. */
const mostSteps = 5000;
/** Linux follows as many. */
const mostLinks = 40;

/** A folder or file of a process: to a command it is its own, not that of this process. */
const ofProcess = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:cwd|root|fd)(?:\/|$)/;
/** The streams that a command has anyway. What the line redirects them to is judged by itself. */
const standardStream = /^\/(?:dev\/(?:stdin|stdout|stderr|fd\/[012])|proc\/self\/fd\/[012])$/;

/** A path of a shell line: by its names, and as the system would open it, links followed and missing names kept. */
export interface Place {
  readonly named: string;
  readonly opened: string;
}

/** The looks of one decision at the disk, each path once, and how many more it may take. It must not outlive the decision. */
export class Looks {
  private steps = mostSteps;
  private names: number;
  /** By the question and the path. */
  private readonly known = new Map<string, Map<string, unknown>>();

  constructor(names: number = mostNames) {
    this.names = names;
  }

  /** Takes steps. Returns false once all are used up. */
  take(steps: number): boolean {
    this.steps -= steps;
    return this.steps >= 0;
  }

  private once<Found>(what: string, path: string, look: () => Found): Found {
    let known = this.known.get(what);
    if (known === undefined) {
      known = new Map();
      this.known.set(what, known);
    }
    let found = known.get(path) as Found;
    if (found === undefined && !known.has(path)) {
      found = look();
      known.set(path, found);
    }
    return found;
  }

  /** Looks at what has this name, which may be a link; undefined if that is nothing, or cannot be told. */
  link(path: string): EntryStats | undefined {
    return this.once("link", path, () => attempt(() => lstatSync(path, { throwIfNoEntry: false })));
  }

  /** Looks at what a path leads to; undefined if that is nothing, or cannot be told. */
  stats(path: string): EntryStats | undefined {
    const link = this.link(path);
    if (!link?.isSymbolicLink()) return link;
    return this.once("stats", path, () => attempt(() => statSync(path, { throwIfNoEntry: false })));
  }

  /** Follows the links in a path; the path itself if that fails. */
  canonical(path: string): string {
    return this.once("canonical", path, () => canonicalOrUndefined(path)) ?? path;
  }

  private contentOf(folder: string): Content {
    return this.once("names", folder, () => {
      const stats = this.stats(folder);
      if (stats?.isDirectory() === false) return "none";
      if (stats !== undefined && stats.size > largestFolder) return "large";
      try {
        return readdirSync(folder, { withFileTypes: true });
      } catch (error) {
        return systemErrorCode(error) === "ENOENT" ? "none" : "closed";
      }
    });
  }

  /** Lists what lies below a folder, but for a path that is skipped. */
  below(folder: string, skipped?: string): Listing {
    const take = (): boolean => {
      this.names -= 1;
      return this.names >= 0;
    };
    return this.once(`below but ${skipped}`, folder, () =>
      listBelow(folder, skipped, take, (one) => this.contentOf(one)),
    );
  }

  /** Finds what a word of a shell line means from a canonical directory. */
  place(directory: string, word: string): Place {
    return this.once(`place ${directory}`, word, () => {
      const named = shellPath(directory, word);
      return { named, opened: this.opened(directory, word, named) };
    });
  }

  private opened(directory: string, word: string, named: string): string {
    if (nodePath.sep === "\\") return isOnOtherShare(named, [directory]) ? named : this.canonical(named);
    const names = word.split("/");
    const led = (): string => (names.includes("..") ? this.led(directory, word, named) : this.canonical(named));
    let at = isAbsolute(word) ? "/" : directory;
    for (const [index, name] of names.entries()) {
      if (name === "" || name === ".") continue;
      at = name === ".." ? dirname(at) : at === "/" ? `/${name}` : `${at}/${name}`;
      const stats = name === ".." ? undefined : this.link(at);
      if (stats?.isSymbolicLink()) return led();
      // Nothing below a name that is missing can be a link. Most words are no paths, and end here.
      if (stats === undefined && name !== "..") return names.includes("..", index) ? led() : named;
    }
    return named;
  }

  /** Follows the links before a name `..`, which leads on from there. */
  private led(directory: string, word: string, named: string): string {
    return canonicalOrUndefined(isAbsolute(word) ? word : `${directory}/${word}`) ?? named;
  }

  /**
   * Returns whether a path leads through a folder of a process, as it is written or by a link in it, so that a command would open another
   * file. `writesInput`: it may be written, and the line has an input, which `/dev/stdin` would then overwrite.
   */
  leadsThroughProcess({ named, opened }: Place, writesInput = false): boolean {
    if (!writesInput && standardStream.test(named)) return false;
    if (ofProcess.test(named) || named === opened) return ofProcess.test(named);
    let at = "";
    let links = 0;
    for (let names = named.split("/"); names.length > 0 && links <= mostLinks; ) {
      const [name = "", ...rest] = names;
      names = rest;
      if (name === "") continue;
      at = `${at}/${name}`;
      if (ofProcess.test(at)) return true;
      const target = this.target(at);
      if (target === undefined) continue;
      links += 1;
      names = [...resolve(dirname(at), target).split("/"), ...rest];
      at = "";
    }
    return links > mostLinks;
  }

  private target(path: string): string | undefined {
    if (!this.link(path)?.isSymbolicLink()) return undefined;
    return this.once("target", path, () => attempt(() => readlinkSync(path)));
  }

  /**
   * Lists the paths that a shell may put in the place of a word in a directory, and some more (`compilePart`). The word itself is first: a
   * shell keeps it if nothing fits.
   */
  expand(directory: string, word: string): readonly string[] {
    if (!hasPattern(word)) return [word];
    if (isOnOtherShare(shellPath(directory, word), [directory])) {
      // Not looked at, so that all that it could stand for is left over.
      this.take(Number.POSITIVE_INFINITY);
      return [word];
    }
    let heads = [word.startsWith("/") ? "/" : ""];
    for (const part of word.split("/").filter((name) => name !== "")) {
      if (!hasPattern(part)) {
        heads = heads.map((head) => `${head}${part}/`);
        continue;
      }
      const fits = compilePart(part);
      const found: string[] = [];
      for (const head of heads) {
        const content = this.contentOf(this.place(directory, head || ".").opened);
        // What cannot be read, no shell can read either.
        const names = typeof content === "string" ? [] : [".", "..", ...content.map(({ name }) => name)];
        if (!this.take(content === "large" ? Number.POSITIVE_INFINITY : names.length)) return [word];
        for (const name of names) if (fits(name)) found.push(`${head}${name}/`);
      }
      heads = found;
    }
    return [word, ...heads.map((head) => head.slice(0, -1) || "/")];
  }

  /** Lists the folders whose content gets other names when `path` is put at other places: itself, or where it leads to, as a link, there and here. */
  foldersOf(path: string, places: readonly string[]): string[] {
    const text = this.target(path);
    return text === undefined ? this.foldersAt(path, [path]) : this.foldersAt(text, [path, ...places]);
  }

  /** Lists the folders that a link with this text leads to from one of the places. */
  foldersAt(text: string, places: readonly string[]): string[] {
    const next = places.map((place) => resolve(dirname(place), text));
    const ends = next.filter((one) => !isOnOtherShare(one, places)).map((one) => this.place("/", one).opened);
    return [...new Set(ends)].filter((one) => this.stats(one)?.isDirectory());
  }
}
