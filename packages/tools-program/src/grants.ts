import { dirname, isAbsolute, resolve, sep } from "node:path";
import { type ApprovalQuestion, type GuardedCall, type ToolEffect, toolFingerprint } from "@toolcrib/core";
import { isPlainObject, offeredFolder } from "@toolcrib/core/internal";

/** The calls that an answer `{ upTo: n }` to a question covers: those of this tool about which the same guard asks. */
export interface Offer {
  readonly name: string;
  /** Fingerprint of the tool. */
  readonly tool: string;
  readonly guard: number;
  /** Their effects are of these kinds … */
  readonly kinds: readonly string[];
  /** … and lie below this folder … */
  readonly folder: string;
  /** … which is in the folder that the guard allows: no wider one is offered. */
  readonly root: string;
}

/**
 * Returns what a question offers: the common parent of the paths of its call, within the folder that its guard allows. Undefined without such a
 * folder, and for effects that are not known, have no path or lie elsewhere.
 */
export function offerOf({ name, tool, effects }: GuardedCall, question: ApprovalQuestion): Offer | undefined {
  const root = offeredFolder(question);
  const places = (effects ?? []).map(placeOf);
  if (root === undefined || !isAbsolute(root) || places.length === 0) return undefined;
  const known = places.filter((place) => place !== undefined);
  const top = resolve(root);
  if (known.length < places.length || !known.every(({ path }) => isBelow(top, path))) return undefined;
  const kinds = [...new Set(known.map(({ kind }) => kind))];
  const folder = commonParent(known.map(({ path }) => path));
  return { name, tool: toolFingerprint(tool), guard: question.guard ?? 0, kinds, folder, root: top };
}

/** Returns the folders for questions that are shown together: those of one tool and guard, within one root, are for the one that they share. */
export function sharedFolders(offers: readonly Offer[]): (offer: Offer) => string {
  const groupOf = ({ name, tool, guard, root }: Offer): string => JSON.stringify([name, tool, guard, root]);
  const folders = new Map<string, string>();
  for (const offer of offers) {
    const shared = folders.get(groupOf(offer));
    folders.set(groupOf(offer), shared === undefined ? offer.folder : commonFolder(shared, offer.folder));
  }
  return (offer) => folders.get(groupOf(offer)) ?? offer.folder;
}

/** Returns a question as users see it: with the folder that is offered in place of the widest one, or without any. */
export function withFolder(question: ApprovalQuestion, folder: string | undefined): ApprovalQuestion {
  if (!isPlainObject(question.data) || !("upTo" in question.data)) return question;
  const { upTo: _, ...data } = question.data;
  return { ...question, data: folder === undefined ? data : { ...data, upTo: folder } };
}

interface Grant {
  readonly offer: Offer;
  readonly most: number;
  /** The numbers of the calls that it has allowed, that which was asked about first. */
  readonly used: Set<number>;
}

/** The answers of one program that are each for several calls. */
export class Grants {
  readonly #offers = new Map<number, Offer>();
  /** By the number of the call that was asked about. */
  readonly #grants = new Map<number, Grant>();

  /** Notes what the last question about a call offers, if anything. */
  offer(number: number, offer: Offer | undefined): void {
    if (offer) this.#offers.set(number, offer);
    else this.#offers.delete(number);
  }

  get areGiven(): boolean {
    return this.#grants.size > 0;
  }

  /** Notes the answer to the last question about a call; it counts for nothing if that offered none. */
  give(number: number, most: number): void {
    const offer = this.#offers.get(number);
    if (offer) this.#grants.set(number, { offer, most, used: new Set([number]) });
  }

  /** Returns the number of the call whose answer covers this one too. */
  find(number: number, open: Offer): number | undefined {
    for (const [by, { offer, most, used }] of this.#grants)
      if (covers(offer, open) && (used.has(number) || used.size < most)) return by;
    return undefined;
  }

  use(by: number, number: number): void {
    this.#grants.get(by)?.used.add(number);
  }
}

function covers(offer: Offer, { name, tool, guard, kinds, folder }: Offer): boolean {
  const isSame = offer.name === name && offer.tool === tool && offer.guard === guard;
  return isSame && kinds.every((kind) => offer.kinds.includes(kind)) && isWithin(offer.folder, folder);
}

const coverable: ReadonlySet<string> = new Set<ToolEffect["kind"]>(["read", "write", "delete"]);
const placeFields: ReadonlySet<string> = new Set<keyof ToolEffect>(["kind", "path", "givenPath", "tree"]);

/** Returns the kind and the path of an effect on this machine's files that says nothing more; all below a path is a kind of its own. */
function placeOf(effect: ToolEffect): { readonly kind: string; readonly path: string } | undefined {
  const { kind, path, tree } = effect;
  if (!coverable.has(kind) || path === undefined || !Object.keys(effect).every((field) => placeFields.has(field)))
    return undefined;
  // Effects have none: it would be another path behind a link.
  const isResolved = isAbsolute(path) && !path.split(/[\\/]/).includes("..");
  return isResolved ? { kind: tree ? `${kind} tree` : kind, path: resolve(path) } : undefined;
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || isBelow(folder, path);
}

function isBelow(folder: string, path: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Returns the deepest folder below which all paths lie. */
function commonParent(paths: readonly string[]): string {
  return paths.map((path) => dirname(path)).reduce(commonFolder);
}

function commonFolder(one: string, other: string): string {
  let folder = one;
  while (!isWithin(folder, other) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
