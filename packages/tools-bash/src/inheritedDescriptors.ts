import { openSync, readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;

let found: readonly number[] | undefined;
let nothing: number | undefined;

/**
 * Descriptors above standard error that children of this process would get, because this process got them from its own
 * parent: Node marks only the first ones as its own. Looked up once: those that Node opens are not passed on. Linux only.
 */
export function inheritedDescriptors(): readonly number[] {
  found ??= listDescriptors().filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
  return found;
}

/** An open descriptor of /dev/null, to put in place of one that a child must not have. */
export function nullDescriptor(): number {
  nothing ??= openSync("/dev/null", "r");
  return nothing;
}

function listDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed meanwhile.
    return false;
  }
}
