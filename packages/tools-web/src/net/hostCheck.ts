// Decides which hosts may be reached, and looks up names for a connection, so that it goes to the addresses that were checked.
import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, isIPv4, type LookupFunction } from "node:net";
import { ToolError } from "@toolcrib/core";
import type { WebSettings } from "../options.ts";
import { nameOf, portOf } from "./address.ts";

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

const systemResolve: Resolve = (name, done) => lookup(name, { all: true }, done);

export interface HostCheck {
  /** Throws a permission-denied error for a host that may not be reached, as far as its URL tells. */
  check(url: URL): void;
  /** Returns the look-up for a connection to this URL: it fails for a name with any address that may not be reached. */
  lookupFor(url: URL): LookupFunction;
}

/** Makes the check from the options. Throws a TypeError for wrong lists. */
export function createHostCheck(
  factory: string,
  { hosts, privateHosts = [] }: WebSettings,
  resolve: Resolve = systemResolve,
): HostCheck {
  const only = hosts === undefined ? undefined : hostList(`${factory}: hosts`, hosts);
  const mayBePrivate = hostList(`${factory}: privateHosts`, privateHosts);

  const refuseAddress = (host: Host & { address: string }): void => {
    if (only && !only.has(host)) throw notListed(host);
    if (isPublicAddress(host.address) || mayBePrivate.has(host)) return;
    const shown = host.address === host.name ? host.name : `${host.name} (${host.address})`;
    throw denied(host, `${shown} is not a public address`);
  };
  const hostOf = (url: URL): Host => ({ name: nameOf(url), port: portOf(url) });

  return {
    check(url) {
      const host = hostOf(url);
      if (only && !only.mayHave(host)) throw notListed(host);
      if (isIP(host.name)) refuseAddress({ ...host, address: host.name });
    },
    lookupFor(url) {
      const host = hostOf(url);
      return (name, options, callback) => {
        resolve(name, (error, addresses) => {
          try {
            if (error) throw error;
            for (const { address } of addresses) refuseAddress({ ...host, address });
            const [first] = addresses;
            if (!first) throw new Error(`no address is known for ${host.name}`);
            if (options.all) callback(null, addresses);
            else callback(null, first.address, first.family);
          } catch (reason) {
            callback(reason as Error, []);
          }
        });
      };
    },
  };
}

function notListed(host: Host): ToolError {
  return denied(host, `${host.name}:${host.port} is not among the hosts that may be reached`);
}

function denied({ name }: Host, reason: string): ToolError {
  return new ToolError({
    code: "permission_denied",
    message: `Permission denied: ${reason}`,
    details: { by: "host", host: name },
  });
}

/** A host that a request would reach: its name as in a URL without brackets, its port, and one of its addresses once that is known. */
interface Host {
  readonly name: string;
  readonly port: number;
  readonly address?: string;
}

interface HostList {
  /** Returns whether it could be listed: by its name, or by addresses that are not known yet. */
  mayHave(host: Host): boolean;
  /** Returns whether the name or the address is listed. */
  has(host: Host): boolean;
}

/** Reads a list. Throws a TypeError, which names the option, for an entry that is none of these. */
function hostList(option: string, entries: readonly string[]): HostList {
  const parsed = entries.map((entry) => parse(option, entry));
  return {
    has: (host) => parsed.some(({ isPort, matches }) => isPort(host.port) && matches(host)),
    mayHave: (host) => parsed.some(({ isPort, isRange, matches }) => isPort(host.port) && (isRange || matches(host))),
  };
}

/** Returns a name in small letters, without the dot at its end. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

interface Entry {
  /** It is about addresses, not names. */
  readonly isRange: boolean;
  readonly isPort: (port: number) => boolean;
  readonly matches: (host: Host) => boolean;
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
  const isPort = (given: number): boolean => port === undefined || port === given;
  const family = isIP(name);
  if (family !== 0) {
    const most = family === 4 ? 32 : 128;
    if (Number(bits ?? most) > most) throw wrong();
    const range = new BlockList();
    range.addSubnet(name, Number(bits ?? most), family === 4 ? "ipv4" : "ipv6");
    const matches = ({ address }: Host): boolean =>
      address !== undefined && range.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
    return { isPort, isRange: true, matches };
  }
  if (bits !== undefined || !/^(?:\*\.)?[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name)) throw wrong();
  const below = name.startsWith("*.");
  const plain = asUrlHost(below ? name.slice(2) : name);
  if (plain === undefined) throw wrong();
  const matches = (host: Host): boolean =>
    below ? plainName(host.name).endsWith(`.${plain}`) : plainName(host.name) === plain;
  return { isPort, isRange: false, matches };
}

/** Returns the name as URLs write it: letters outside of ASCII in Punycode. */
function asUrlHost(name: string): string | undefined {
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : undefined;
}

const special4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
  192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32`;
// Of IPv6 only 2000::/3 is public, without these: protocol assignments (Teredo, ORCHID), documentation, 6to4.
const special6 = "2001::/23 2001:db8::/32 2002::/16 3fff::/20";

const special = new BlockList();
for (const range of special4.trim().split(/\s+/)) addRange(special, range, "ipv4");
for (const range of special6.split(" ")) addRange(special, range, "ipv6");
const global6 = new BlockList();
addRange(global6, "2000::/3", "ipv6");

function addRange(list: BlockList, range: string, family: "ipv4" | "ipv6"): void {
  const [address = "", bits] = range.split("/");
  list.addSubnet(address, Number(bits), family);
}

/** Returns whether everybody's internet has this address. IPv4 within IPv6 (mapped, or translated by NAT64) counts as the IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  // A zone, as in fe80::1%eth0, means a link of this machine.
  if (isIP(address) !== 6 || address.includes("%")) return false;
  const within = ipv4Within(address);
  if (within !== undefined) return isPublicAddress(within);
  return global6.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Returns the IPv4 address in a mapped one (`::ffff:0:0/96`) or one of NAT64's well-known prefix (`64:ff9b::/96`, RFC 6052). */
function ipv4Within(address: string): string | undefined {
  const groups = groupsOf(address);
  const prefix = groups.slice(0, 6).join(":");
  if (prefix !== "0:0:0:0:0:ffff" && prefix !== "64:ff9b:0:0:0:0") return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** Returns the eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  // URL writes an address in one way (RFC 5952).
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  if (tail === undefined) return before ?? [];
  const zeros = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill("0");
  return [...(before ?? []), ...zeros, ...(after ?? [])];
}
