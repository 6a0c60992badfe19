/** Decides whether a host matches a pattern of a rule. */
export type HostPattern = (host: string) => boolean;

const name = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const address6 = /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*$/;

/**
 * `example.com` is that host alone; `*.example.com` every host below it. Letter case and a dot at the end do not count. A text
 * answers why the pattern is malformed.
 */
export function compileHostPattern(pattern: string): HostPattern | string {
  const plain = plainHost(pattern);
  const below = plain.startsWith("*.");
  const host = below ? plain.slice(2) : plain;
  if (host.includes("*")) return "* may only stand before the first dot of a host, as in *.example.com";
  if (!name.test(host) && !address6.test(host)) return "it is not the name or address of a host, such as example.com";
  return (given) => {
    const one = plainHost(given);
    return below ? one.endsWith(`.${host}`) : one === host;
  };
}

function plainHost(host: string): string {
  const plain = host.toLowerCase().replace(/\.$/, "");
  return plain.startsWith("[") && plain.endsWith("]") ? plain.slice(1, -1) : plain;
}
