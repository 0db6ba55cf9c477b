// Addresses that look public and are not: those of this machine, and of the machines beside it in an IPv6 network.
import { BlockList } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";

import { isLoopbackAddress, reachedAddress } from "./address.ts";

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The smallest network that a provider gives to one customer. Addresses in wider ones belong to others. */
const MIN_IPV6_BITS = 64;

export function isThisMachine(address: string, interfaces: Interfaces): boolean {
  const reached = reachedAddress(address);
  return isLoopbackAddress(reached) || all(interfaces).some((own) => own.address === reached);
}

/**
 * True for this machine, where services trust connections that come from it, and for its own IPv6 network, where every
 * device has a public address and no router protects them from each other.
 */
export function isOnThisLink(address: string, interfaces: Interfaces): boolean {
  return isThisMachine(address, interfaces) || all(interfaces).some((own) => isBeside(address, own));
}

function isBeside(address: string, { family, address: own, cidr }: NetworkInterfaceInfo): boolean {
  const bits = Number(cidr?.split("/")[1]);
  if (family !== "IPv6" || !address.includes(":") || !(bits >= MIN_IPV6_BITS)) return false;
  const network = new BlockList();
  network.addSubnet(own, bits, "ipv6");
  return network.check(address, "ipv6");
}

function all(interfaces: Interfaces): readonly NetworkInterfaceInfo[] {
  return Object.values(interfaces).flatMap((one) => one ?? []);
}
