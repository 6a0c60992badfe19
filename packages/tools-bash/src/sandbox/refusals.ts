import type { Refusal, Sandbox } from "./sandbox.ts";

/** What programs print on such a refusal. A guess: they may print it for other reasons, too. */
const signs: Readonly<Record<Refusal, RegExp>> = {
  write: /Read-only file ?system|EROFS/i,
  deny: /: Permission denied|EACCES/,
  network:
    /Network is unreachable|ENETUNREACH|name resolution|Name or service not known|(?:could not|couldn't|failed to|failure) resolv|EAI_AGAIN|ENOTFOUND|Connection refused|ECONNREFUSED|Failed to connect/i,
  sockets: /Address family not supported|EAFNOSUPPORT/i,
  limits:
    /Cannot allocate memory|ENOMEM|bad_alloc|MemoryError|Cannot fork|fork: .*Resource temporarily unavailable|can't start new thread|No space left on device/i,
};

/** Kinds of refusals that the output of a failed command suggests. */
function findRefusals(printed: string): Refusal[] {
  return (Object.keys(signs) as Refusal[]).filter((refusal) => signs[refusal].test(printed));
}

/** A line for each suggested refusal: what the sandbox does, and what the user can do about it. */
export function describeRefusals(printed: string, { writable, limits, options, denies }: Sandbox): string[] {
  const { network = false, unixSockets = false, remedies = {} } = options;
  const applies = { write: true, deny: denies, network: !network, sockets: !unixSockets, limits: true };
  const facts: Readonly<Record<Refusal, string>> = {
    write: `commands can write only in ${writable.join(", ")} and /tmp`,
    deny: "commands cannot open denied paths",
    network: "commands have no network and reach no service of this machine",
    sockets: "commands cannot open Unix sockets",
    limits: `a command has ${limits.processes} processes, ${limits.memoryBytes} bytes of memory for each and ${limits.temporaryBytes} bytes in /tmp at most`,
  };
  return findRefusals(printed)
    .filter((refusal) => applies[refusal])
    .map((refusal) => {
      const remedy = remedies[refusal];
      return `[sandbox: ${facts[refusal]}, which may be why this failed${remedy ? `; ${remedy}` : ""}]`;
    });
}
