// Resolves host names: by the system, or by the DNS server that the environment of the process names.
import { lookup, Resolver } from "node:dns";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name; empty when there is none. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** Who starts the gateway may name a DNS server (`OPENCLAW_DNS_SERVER=127.0.0.1:5353`); config and agents cannot. */
export function createResolve(server: string | undefined): Resolve {
  if (server === undefined || server === "") return systemResolve;
  let resolver: Resolver | undefined;
  return async (host) => {
    if (resolver === undefined) {
      resolver = new Resolver({ timeout: 2000, tries: 2 });
      resolver.setServers([server]);
    }
    const ask = resolver;
    const [four, six] = await Promise.all([
      new Promise<string[]>((resolve) => ask.resolve4(host, (error, found) => resolve(error === null ? found : []))),
      new Promise<string[]>((resolve) => ask.resolve6(host, (error, found) => resolve(error === null ? found : []))),
    ]);
    return [...four.map((address) => ({ address, family: 4 })), ...six.map((address) => ({ address, family: 6 }))];
  };
}

const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error === null) resolve(found);
      else if (error.code === "ENOTFOUND" || error.code === "ENODATA") resolve([]);
      else reject(error);
    });
  });
