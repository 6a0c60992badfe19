import { openSync, readdirSync, readFileSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";

const closeOnExec = 0o2000000;

let found: InheritedDescriptors | undefined;
/** Open descriptors of /dev/null. */
const nothing: number[] = [];

export interface InheritedDescriptors {
  /** Replaced by /dev/null in a child. */
  readonly replaceable: readonly number[];
  /** Above this process's limit of descriptors, so they cannot be replaced. */
  readonly stuck: readonly number[];
}

/**
 * Descriptors above standard error that this process inherited and would pass on to its children: Node sets close-on-exec only on
 * the first ones. Looked up once, because descriptors that Node opens itself are not passed on. Linux only.
 */
export function inheritedDescriptors(): InheritedDescriptors {
  if (found) return found;
  const open = attempt(() => readdirSync("/proc/self/fd").map(Number)) ?? [];
  const passedOn = open.filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
  const limit = passedOn.length > 0 ? descriptorLimit() : 0;
  found = {
    replaceable: passedOn.filter((descriptor) => descriptor < limit),
    stuck: passedOn.filter((descriptor) => descriptor >= limit),
  };
  return found;
}

/** Returns open descriptors of /dev/null, one for each that a child must not inherit: Deno passes none on twice. */
export function nullDescriptors(count: number): readonly number[] {
  while (nothing.length < count) nothing.push(openSync("/dev/null", "r"));
  return nothing;
}

/** Returns the soft limit, which is the first number of the line. */
function descriptorLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

function isPassedOn(descriptor: number): boolean {
  // One that was closed meanwhile has none.
  const info = attempt(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? "";
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
}
