import { refusal } from "./cursor.ts";

/** A group of an expression, while it is read. */
export interface Group {
  readonly isCapture?: boolean;
  readonly name?: string | undefined;
  /** Takes no characters, as look-around. */
  readonly isEmpty?: boolean;
  /** True if its captures cannot be relied on: it is negated, or read backwards. */
  readonly isUnsure?: boolean;
  /** True if case is ignored around it. */
  readonly ignoresCase?: boolean;
}

interface OpenGroup extends Group {
  readonly parent: OpenGroup | undefined;
  /** The alternative of its parent that it stands in. */
  readonly branch: number;
  branches: number;
  least: number;
  most: number;
  /** True if the whole of it can match nothing, and the same of the alternative that is read. */
  canBeEmpty: boolean;
  isBranchEmpty: boolean;
  isOpen: boolean;
  /** A closed group around it, or itself: everything from it up to there takes part whenever that does. */
  top: OpenGroup | undefined;
}

/** The groups of an expression. Refuses references that engines read in different ways: to a group that may have taken no part. */
export class Groups {
  readonly #root: OpenGroup = makeGroup({}, undefined);
  readonly #captures: OpenGroup[] = [];
  readonly #named = new Map<string, OpenGroup>();
  #current = this.#root;
  /** The last atom, whose repetition may follow. */
  #last: { isEmpty: boolean; group: OpenGroup | undefined } | undefined;

  open(about: Group): void {
    this.#settle();
    const group = makeGroup(about, this.#current);
    if (about.isCapture) this.#captures.push(group);
    // A name can stand twice only in two alternatives: no reference behind both is sure.
    if (about.name !== undefined && !this.#named.has(about.name)) this.#named.set(about.name, group);
    this.#current = group;
  }

  /** Ends a group; undefined where none is open. */
  close(): Group | undefined {
    const group = this.#current;
    if (group.parent === undefined) return undefined;
    this.#endAlternative();
    group.isOpen = false;
    this.#current = group.parent;
    this.#last = { isEmpty: group.isEmpty === true || group.canBeEmpty, group };
    return group;
  }

  endBranch(): void {
    this.#endAlternative();
    this.#current.branches += 1;
    this.#current.isBranchEmpty = true;
  }

  addAtom(isEmpty: boolean): void {
    this.#settle();
    this.#last = { isEmpty, group: undefined };
  }

  repeat(least: number, most: number): void {
    if (this.#last === undefined) return;
    if (least === 0) this.#last.isEmpty = true;
    const { group } = this.#last;
    if (group !== undefined) Object.assign(group, { least, most });
  }

  /**
   * Returns a reference as JavaScript writes it. Throws for one to a group that may have taken no part: JavaScript then takes it for
   * nothing, other engines do not match.
   */
  refer({ number, name, shown }: { number: number | undefined; name: string | undefined; shown: string }): string {
    const index = number === undefined ? undefined : number < 0 ? this.#captures.length + number : number - 1;
    const target = index === undefined ? this.#named.get(name ?? "") : this.#captures[index];
    if (target === undefined || target.isOpen)
      throw refusal(`${shown} stands before the end of the group that it refers to`, "put it behind it");
    if (!takesPart(target))
      throw refusal(
        `${shown} refers to a group that may take no part in a match, where engines differ`,
        "write the cases out, with |",
      );
    return index === undefined ? `\\k<${name}>` : `\\${index + 1}`;
  }

  #settle(): void {
    if (this.#last !== undefined && !this.#last.isEmpty) this.#current.isBranchEmpty = false;
    this.#last = undefined;
  }

  #endAlternative(): void {
    this.#settle();
    this.#current.canBeEmpty ||= this.#current.isBranchEmpty;
  }
}

/**
 * Returns whether a closed group has always taken part where the expression is read now. Goes up to the first group that is still open,
 * and remembers how far, so that many references cost no more than many groups.
 */
function takesPart(target: OpenGroup): boolean {
  const passed: OpenGroup[] = [];
  let one = target;
  for (;;) {
    passed.push(one);
    one = one.top ?? one;
    const isSure = one.least > 0 && !one.isUnsure && !(one.most > 1 && one.canBeEmpty);
    const { parent } = one;
    if (!isSure || parent === undefined) return false;
    if (parent.isOpen) {
      for (const below of passed) below.top = one;
      return one.branch === parent.branches - 1;
    }
    if (parent.branches > 1) return false;
    one = parent;
  }
}

function makeGroup(about: Group, parent: OpenGroup | undefined): OpenGroup {
  return {
    ...about,
    parent,
    branch: (parent?.branches ?? 1) - 1,
    ...{ branches: 1, least: 1, most: 1, canBeEmpty: false, isBranchEmpty: true, isOpen: true, top: undefined },
  };
}
