import { BlockList, isIP } from "node:net";
import { isLoopback } from "../loopback.ts";

/**
 * Checks an address that a server or its metadata names, before anything is sent there or shown to the user. Throws a TypeError: the client
 * library goes on without metadata after any other error.
 */
export type AddressRule = (address: string | URL, what: string) => URL;

const longestAddress = 8192;

/**
 * Limits what the server at `server` may name: addresses over https, and those of private networks and of this machine only if it is there
 * itself: a server elsewhere must not send us to what only we can reach. Plain http counts on this machine alone.
 */
export function addressRule(server: URL): AddressRule {
  const serverIsPrivate = isPrivate(server);
  return (address, what) => {
    const url = URL.parse(String(address));
    const refuse = (reason: string): never => {
      throw new TypeError(`${what} ${shown(url)} is refused: ${reason}`);
    };
    if (!url || String(address).length > longestAddress) return refuse("it is not an address");
    if (url.username !== "" || url.password !== "") refuse("it holds a user or password");
    const isLocal = isLoopback(hostOf(url));
    if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) refuse("an https address is expected");
    if (isPrivate(url) && !serverIsPrivate) refuse("it is in a private network, and the server is not");
    if (isLocal && !isLoopback(hostOf(server))) refuse("it is on this machine, and the server is not");
    return url;
  };
}

function shown(url: URL | null): string {
  return url === null ? "" : url.origin === "null" ? url.protocol : url.origin;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

const privateRanges = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  privateRanges.addSubnet(address, bits, "ipv4");
for (const [address, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  privateRanges.addSubnet(address, bits, "ipv6");

function isPrivate(url: URL): boolean {
  const host = hostOf(url);
  const version = isIP(host);
  if (version === 0) return host === "localhost" || host.endsWith(".localhost");
  return privateRanges.check(host, version === 4 ? "ipv4" : "ipv6");
}
