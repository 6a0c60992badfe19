// Which hosts may be reached, and the look-up of names that a connection uses, so that it goes to the addresses that were checked.
import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { ToolError } from "@toolcrib/core";
import type { WebSettings } from "../options.ts";
import { nameOf, portOf } from "./address.ts";
import { type Host, hostList } from "./hostList.ts";
import { isPublicAddress } from "./publicAddress.ts";

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
  return new ToolError({ code: "permission_denied", message: `Permission denied: ${reason}`, details: { host: name } });
}
