import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { absent, isMoved, isSame, readStates, type State, type StateOptions, type States, stateOf } from "./states.ts";
import type { Change, OpenTurn } from "./turnStore.ts";

/** A change while calls that make it may still run. */
interface RunningChange {
  readonly index: number;
  change: Change;
  running: number;
}

/** The changes that a call is about to make, to be given back when it has ended. */
export type Begun = readonly RunningChange[];

/** Writes down what the calls of one turn change. Its methods must not overlap. */
export class TurnRecorder {
  readonly #turn: OpenTurn;
  readonly #look: StateOptions;
  readonly #changes: RunningChange[] = [];
  #count = 0;

  constructor(turn: OpenTurn, look: StateOptions) {
    this.#turn = turn;
    this.#look = look;
  }

  other(tool: string, what: string): void {
    this.#turn.other({ tool, what });
  }

  async begin(effects: readonly ToolEffect[]): Promise<Begun> {
    const begun: RunningChange[] = [];
    for (const { paths, tree, isWrite } of plannedOf(effects)) {
      let one = isWrite ? await this.#known(paths[0]) : undefined;
      if (one === undefined) {
        const before: States[] = [];
        for (const path of paths) before.push(await this.#before(path, tree));
        one = { index: this.#count, change: { paths, tree, before: before.flat() }, running: 0 };
        this.#turn.put(one.index, one.change);
        this.#count += 1;
        this.#changes.push(one);
      }
      one.running += 1;
      begun.push(one);
    }
    return begun;
  }

  async end(begun: Begun): Promise<void> {
    for (const one of begun) {
      one.running -= 1;
      const change = { ...one.change, after: await this.#after(one.change) };
      one.change = change;
      if (one.running > 0) continue;
      if (isUnchanged(change)) {
        this.#turn.put(one.index, null);
        this.#changes.splice(this.#changes.indexOf(one), 1);
      } else {
        if (isRenamedOnly(change) && !isMove(change)) one.change = { ...change, before: notKept(change) };
        this.#turn.put(one.index, one.change);
      }
    }
  }

  /** Returns the last change of a file in this turn, where nobody else has changed the file since. */
  async #known(path: string): Promise<RunningChange | undefined> {
    const last = this.#changes.findLast(({ change }) =>
      change.paths.some((one) => one === path || isInside(one, path)),
    );
    if (last === undefined || last.change.tree || last.change.paths.length > 1 || last.change.paths[0] !== path)
      return undefined;
    if (last.running > 0) return last;
    return isSame(await stateOf(path, this.#look), stateIn(last.change.after, path)) ? last : undefined;
  }

  #before(path: string, tree: boolean): Promise<States> {
    if (!this.#look.scope.contains(path)) {
      const state: State = { kind: "other", why: "it is outside the directories of this undo" };
      return Promise.resolve([[path, state]]);
    }
    return readStates(path, tree, { ...this.#look, keep: this.#turn.keep });
  }

  /** Returns the states after, also of the directories that were missing above a path. */
  async #after({ paths, tree, before }: Change): Promise<States> {
    const states: (readonly [string, State])[] = [];
    for (const [place] of before) {
      if (paths.some((path) => place !== path && isInside(place, path)))
        states.push([place, await stateOf(place, this.#look)]);
    }
    for (const path of paths) states.push(...(await readStates(path, tree, this.#look)));
    return states;
  }
}

/** Something to be recorded: a path, or the two paths of an entry that gets another name. */
interface Planned extends Pick<Change, "paths" | "tree"> {
  /** One file is written. */
  readonly isWrite?: boolean;
}

/** Pairs what goes with what is written right after it: the entry is moved there, as far as anybody knows. */
function plannedOf(effects: readonly ToolEffect[]): Planned[] {
  const changes = new Map<string, ToolEffect>();
  for (const effect of effects) {
    const { kind, path } = effect;
    if ((kind === "write" || kind === "delete") && path !== undefined && !changes.has(path)) changes.set(path, effect);
  }
  const all = [...changes].map(([path, { kind, tree = false }]) => ({ path, kind, tree }));
  const planned: Planned[] = [];
  for (let at = 0; at < all.length; at += 1) {
    const [from, to] = all.slice(at, at + 2);
    if (from?.kind === "delete" && to?.kind === "write") {
      // A directory that is renamed keeps what is in it.
      const isRename = from.tree && to.tree && deviceOf(from.path) === deviceOf(dirname(to.path));
      planned.push({ paths: [from.path, to.path], tree: !isRename && (from.tree || to.tree) });
      at += 1;
    } else if (from) {
      planned.push({ paths: [from.path], tree: from.tree, isWrite: from.kind === "write" && !from.tree });
    }
  }
  return planned;
}

/** Returns the device of the nearest directory that exists. */
function deviceOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats || dirname(path) === path ? stats?.dev : deviceOf(dirname(path));
}

/** Returns whether a call gave an entry another name. */
export function isMove({ paths: [from, to], before, after }: Change): boolean {
  if (to === undefined || stateIn(after, from).kind !== "absent" || stateIn(before, to).kind !== "absent") return false;
  return isMoved(stateIn(before, from), stateIn(after, to));
}

/** Returns whether the content of a directory was not read. */
function isRenamedOnly({ paths: [from, to], tree, before }: Change): boolean {
  return to !== undefined && !tree && stateIn(before, from).kind === "directory";
}

function notKept({ paths: [path] }: Change): States {
  return [[path, { kind: "other", why: "the content of the folder was not saved, because it was only renamed" }]];
}

function isUnchanged({ before, after = [] }: Change): boolean {
  const [old, now] = [new Map(before), new Map(after)];
  // A path that could not be read may have changed: it is never the same.
  return [...old.keys(), ...now.keys()].every((path) => isSame(old.get(path) ?? absent, now.get(path) ?? absent));
}

function stateIn(states: States | undefined, path: string): State {
  return states?.find(([one]) => one === path)?.[1] ?? absent;
}
