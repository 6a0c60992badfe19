import { originWithin } from "@toolcrib/kit/text";

/** Returns whether a tool, here or on `remote`, is one of our packs, as its origin says. */
export function isOfPack(origin: string, remote: string | undefined): boolean {
  const own = remote === undefined ? origin : originWithin(remote, origin);
  return own?.startsWith("@toolcrib/tools-") ?? false;
}
