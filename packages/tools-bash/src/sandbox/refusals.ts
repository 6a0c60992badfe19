import type { Sandbox } from "./sandbox.ts";

/** What a sandbox keeps commands from. */
export type Refusal = "write" | "network" | "sockets" | "limits";

/** What programs print when they meet it. A guess: others print the same for other reasons. */
const signs: Readonly<Record<Refusal, RegExp>> = {
  write: /Read-only file ?system|EROFS/i,
  network:
    /Network is unreachable|ENETUNREACH|name resolution|Name or service not known|(?:could not|couldn't|failed to|failure) resolv|EAI_AGAIN|ENOTFOUND|Connection refused|ECONNREFUSED|Failed to connect/i,
  sockets: /Address family not supported|EAFNOSUPPORT/i,
  limits:
    /Cannot allocate memory|ENOMEM|bad_alloc|MemoryError|Cannot fork|fork: .*Resource temporarily unavailable|can't start new thread|No space left on device/i,
};

/** What the sandbox may have refused, by what a failed command printed. */
function findRefusals(printed: string): Refusal[] {
  return (Object.keys(signs) as Refusal[]).filter((refusal) => signs[refusal].test(printed));
}

/** A line for each refusal that a failed command seems to have met: what the sandbox does, and what the user can do about it. */
export function describeRefusals(printed: string, { writable, limits, options }: Sandbox): string[] {
  const { network = false, unixSockets = false, remedies = {} } = options;
  const applies = { write: true, network: !network, sockets: !unixSockets, limits: true };
  const facts: Readonly<Record<Refusal, string>> = {
    write: `commands can write only in ${writable.join(", ")} and /tmp`,
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
