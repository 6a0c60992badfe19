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
  /** The content of a directory was not read, as it is renamed. */
  readonly isShallow: boolean;
}

/** The paths that a call is about to change, to be given back when it has ended. */
export type Begun = readonly RunningChange[];

/** Writes down what the calls of one turn change. Its two methods must not overlap. */
export class TurnRecorder {
  readonly #turn: OpenTurn;
  readonly #look: Omit<StateOptions, "tree" | "keeper">;
  readonly #changes: RunningChange[] = [];

  constructor(turn: OpenTurn, look: Omit<StateOptions, "tree" | "keeper">) {
    this.#turn = turn;
    this.#look = look;
  }

  other(tool: string, what: string): void {
    this.#turn.other({ tool, what });
  }

  async begin(tool: string, effects: readonly ToolEffect[]): Promise<Begun> {
    const begun: RunningChange[] = [];
    const changes = effects.filter((effect) => effect.kind === "delete" || effect.kind === "write");
    const moved = movedTree(changes);
    for (const { kind, path, tree: isTree = false } of changes) {
      if (path === undefined || begun.some((one) => one.change.path === path)) continue;
      // A directory that is renamed keeps what is in it.
      const tree = isTree && !moved.has(path);
      const known = kind === "write" && !isTree ? await this.#known(path) : undefined;
      if (known) {
        known.running += 1;
        begun.push(known);
        continue;
      }
      const before = await this.#before(path, tree);
      const change: Change = { tool, path, tree, before };
      const added = { index: this.#turn.add(change), change, running: 1, isShallow: isTree && !tree };
      this.#changes.push(added);
      begun.push(added);
    }
    return begun;
  }

  async end(begun: Begun): Promise<void> {
    for (const one of begun) {
      one.running -= 1;
      one.change = { ...one.change, after: await this.#after(one.change) };
    }
    const target = movedPair(begun);
    if (target) target.from.change = asMove(target.from.change, target.to.change);
    for (const one of begun) {
      if (one.running > 0) continue;
      const isMoveOf = one === target?.from || one === target?.to;
      if (one.isShallow && !isMoveOf && !isUnchanged(one.change)) one.change = { ...one.change, before: notKept(one) };
      if (one === target?.to || isUnchanged(one.change)) this.#drop(one);
      else this.#turn.end(one.index, one.change);
    }
  }

  /** Returns the last change of a file in this turn, where nobody else has changed the file since. */
  async #known(path: string): Promise<RunningChange | undefined> {
    const last = this.#changes.findLast(({ change }) => change.path === path || isInside(change.path, path));
    if (last?.change.path !== path || last.change.tree || last.change.movedTo !== undefined) return undefined;
    if (last.running > 0) return last;
    const now = await stateOf(path, { ...this.#look, tree: false });
    return isSame(now, stateIn(last.change.after, path)) ? last : undefined;
  }

  #before(path: string, tree: boolean): Promise<States> {
    if (!this.#look.scope.contains(path)) {
      const state: State = { kind: "other", why: "it is outside the directories of this undo" };
      return Promise.resolve([[path, state]]);
    }
    return readStates(path, { ...this.#look, tree, keeper: this.#turn.keeper });
  }

  /** Records the state after, also of the directories that were missing above the path. */
  async #after({ path, tree, before }: Change): Promise<States> {
    const above: [string, State][] = [];
    for (const [place] of before) {
      if (place === path || !isInside(place, path)) continue;
      above.push([place, await stateOf(place, { ...this.#look, tree: false })]);
    }
    return [...above, ...(await readStates(path, { ...this.#look, tree }))];
  }

  #drop(one: RunningChange): void {
    this.#turn.end(one.index, undefined);
    this.#changes.splice(this.#changes.indexOf(one), 1);
  }
}

/** Returns the two paths of a call that moves a directory within one file system. */
function movedTree(changes: readonly ToolEffect[]): ReadonlySet<string> {
  const [from, to] = [changes.find(({ kind }) => kind === "delete"), changes.find(({ kind }) => kind === "write")];
  if (changes.length !== 2 || !from?.tree || !to?.tree || from.path === undefined || to.path === undefined)
    return new Set();
  const isOneDevice = deviceOf(from.path) === deviceOf(dirname(to.path));
  return new Set(isOneDevice ? [from.path, to.path] : []);
}

/** Returns the device of the nearest directory that exists. */
function deviceOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats || dirname(path) === path ? stats?.dev : deviceOf(dirname(path));
}

/** Returns the two changes of a call that gave an entry another name. */
function movedPair(begun: Begun): { readonly from: RunningChange; readonly to: RunningChange } | undefined {
  for (const from of begun) {
    const left = stateIn(from.change.before, from.change.path);
    if (stateIn(from.change.after, from.change.path).kind !== "absent") continue;
    const to = begun.find(({ change: { path, before, after } }) => {
      return stateIn(before, path).kind === "absent" && isMoved(left, stateIn(after, path));
    });
    if (to && from.running === 0 && to.running === 0) return { from, to };
  }
  return undefined;
}

/** Makes one change of two: the directories made for the new name belong to it. */
function asMove(from: Change, to: Change): Change {
  const above = (states: States = []): States => states.filter(([path]) => path !== to.path && isInside(path, to.path));
  return {
    ...from,
    movedTo: to.path,
    before: [...from.before, ...above(to.before)],
    after: [...(from.after ?? []), ...above(to.after)],
  };
}

function notKept({ change: { path } }: RunningChange): States {
  return [[path, { kind: "other", why: "the content of the folder was not saved, because it was only renamed" }]];
}

function isUnchanged({ before, after = [] }: Change): boolean {
  const [old, now] = [new Map(before), new Map(after)];
  // A path that could not be read may have changed.
  if ([...old.values(), ...now.values()].some(({ kind }) => kind === "other")) return false;
  return [...old.keys(), ...now.keys()].every((path) => isSame(old.get(path) ?? absent, now.get(path) ?? absent));
}

function stateIn(states: States | undefined, path: string): State {
  return states?.find(([one]) => one === path)?.[1] ?? absent;
}
