// The lists of hosts that options name: names, addresses and ranges, each for all ports or one.
import { BlockList, isIP } from "node:net";

/** A host that a request would reach: its name as in a URL without brackets, its port, and one of its addresses once that is known. */
export interface Host {
  readonly name: string;
  readonly port: number;
  readonly address?: string;
}

export interface HostList {
  /** Returns whether it could be listed: by its name, or by addresses that are not known yet. */
  mayHave(host: Host): boolean;
  /** Returns whether the name or the address is listed. */
  has(host: Host): boolean;
}

/** Reads a list. Throws a TypeError, which names the option, for an entry that is none of these. */
export function hostList(option: string, entries: readonly string[]): HostList {
  const parsed = entries.map((entry) => parse(option, entry));
  return {
    has: (host) => parsed.some((entry) => onPort(entry, host) && entry.matches(host)),
    mayHave: (host) => parsed.some((entry) => onPort(entry, host) && (entry.isRange || entry.matches(host))),
  };
}

/** Returns a name in small letters, without the dot at its end. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

interface Entry {
  readonly port: number | undefined;
  /** It is about addresses, not names. */
  readonly isRange: boolean;
  readonly matches: (host: Host) => boolean;
}

function onPort({ port }: Entry, host: Host): boolean {
  return port === undefined || port === host.port;
}

function parse(option: string, entry: string): Entry {
  const wrong = (): TypeError =>
    new TypeError(
      `${option}: ${JSON.stringify(entry)} is not a host; use a name (example.com, *.example.com), an address or a range (192.0.2.0/24, [2001:db8::]/32), with :port for one port`,
    );
  const [, host = "", bits, portText] =
    /^(\[[^\]]+\]|[^:/]+|[0-9a-f:.]+)(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/i.exec(entry) ?? [];
  const name = plainName(host.replace(/^\[(.+)\]$/, "$1"));
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) throw wrong();
  const family = isIP(name);
  if (family !== 0) {
    const most = family === 4 ? 32 : 128;
    if (Number(bits ?? most) > most) throw wrong();
    const range = new BlockList();
    range.addSubnet(name, Number(bits ?? most), family === 4 ? "ipv4" : "ipv6");
    const matches = ({ address }: Host): boolean =>
      address !== undefined && range.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
    return { port, isRange: true, matches };
  }
  if (bits !== undefined || !/^(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name)) throw wrong();
  const below = name.startsWith("*.");
  const plain = asUrlHost(below ? name.slice(2) : name);
  if (plain === undefined) throw wrong();
  const matches = (host: Host): boolean =>
    below ? plainName(host.name).endsWith(`.${plain}`) : plainName(host.name) === plain;
  return { port, isRange: false, matches };
}

/** Returns the name as URLs write it: letters outside of ASCII in Punycode. */
function asUrlHost(name: string): string | undefined {
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : undefined;
}
