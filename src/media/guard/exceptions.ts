// The owner's exceptions: private hosts that agents may reach, by name, address or network, each with an optional port.
import { BlockList, isIP } from "node:net";

export interface Exceptions {
  /** The entry that allows this host or this address of it, if there is one. */
  find(host: string, port: number, address: string): string | undefined;
}

/** Entries: `nas.local`, `nas.local:8080`, `*.lab.example`, `192.168.1.20`, `192.168.1.0/24`, `[fd00::1]:8080`. */
export function readExceptions(entries: readonly string[]): Exceptions {
  const rules = entries.flatMap((entry) => readEntry(entry));
  return {
    find: (host, port, address) =>
      rules.find((rule) => (rule.port === undefined || rule.port === port) && rule.matches(host, address))?.entry,
  };
}

interface Rule {
  readonly entry: string;
  readonly port: number | undefined;
  matches(host: string, address: string): boolean;
}

/** None for an entry that names no host. */
function readEntry(entry: string): Rule[] {
  const parts = /^(?:\[([^\]]+)\]|([^:]+)|([^[\]]+:[^[\]]*:[^[\]]*))(?::(\d{1,5}))?$/.exec(entry.trim().toLowerCase());
  if (parts === null) return [];
  const name = (parts[1] ?? parts[2] ?? parts[3] ?? "").replace(/\.$/, "");
  const port = parts[4] === undefined ? undefined : Number(parts[4]);
  const [net = "", bits, ...rest] = name.split("/");
  const family = isIP(net);
  if (family !== 0) {
    const list = new BlockList();
    const type = family === 4 ? "ipv4" : "ipv6";
    const most = family === 4 ? 32 : 128;
    // Digits only: Number("") is 0, so "10.0.0.0/" would be every address.
    const width = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
    if (width > most || rest.length > 0) return [];
    list.addSubnet(net, width, type);
    return [{ entry, port, matches: (_host, address) => list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6") }];
  }
  if (name.startsWith("*.")) {
    const suffix = name.slice(1);
    return suffix.length < 3 ? [] : [{ entry, port, matches: (host) => host.endsWith(suffix) }];
  }
  return name === "" || name.includes("*") ? [] : [{ entry, port, matches: (host) => host === name }];
}
