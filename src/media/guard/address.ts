// Tells public addresses from all others. Literals and DNS answers go through the same function; unknown forms are not public.
import { BlockList, isIP } from "node:net";

export type AddressKind = "public" | "private" | "metadata" | "unusable";

/** `unusable` is what is never a server: multicast, broadcast, unspecified, reserved, or no address at all. */
export function classifyAddress(address: string): AddressKind {
  const family = isIP(address);
  if (family === 4) return classifyIPv4(address);
  // A zone id makes an address local to one machine.
  if (family !== 6 || address.includes("%")) return "unusable";
  const groups = groupsOf(address);
  const embedded = embeddedIPv4(groups);
  if (embedded !== undefined) return classifyIPv4(embedded);
  if (lists.metadata.check(address, "ipv6")) return "metadata";
  if (lists.private.check(address, "ipv6")) return "private";
  if (isIsatap(groups) || !lists.global.check(address, "ipv6") || lists.unusable.check(address, "ipv6"))
    return "unusable";
  return "public";
}

/** True for loopback and for 0.0.0.0/8 and ::, which reach this machine too. Callers check its other addresses themselves. */
export function isLoopbackAddress(address: string): boolean {
  const reached = reachedAddress(address);
  const family = isIP(reached);
  return family !== 0 && lists.loopback.check(reached, family === 4 ? "ipv4" : "ipv6");
}

/** Where a packet to this address ends up: the IPv4 address inside an IPv6 one, else the address itself. */
export function reachedAddress(address: string): string {
  return (isIP(address) === 6 && !address.includes("%") ? embeddedIPv4(groupsOf(address)) : undefined) ?? address;
}

function classifyIPv4(address: string): AddressKind {
  if (lists.metadata.check(address, "ipv4")) return "metadata";
  if (lists.private.check(address, "ipv4")) return "private";
  return lists.unusable.check(address, "ipv4") ? "unusable" : "public";
}

/** The IPv4 address that a packet to this IPv6 address ends up at: IPv4-mapped, or translated by NAT64. */
function embeddedIPv4(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, high = 0, low = 0] = groups;
  const isMapped = (a | b | c | d | e) === 0 && f === 0xffff;
  const isNat64 = a === 0x64 && b === 0xff9b && (c | d | e | f) === 0;
  if (!isMapped && !isNat64) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** ISATAP carries an IPv4 address in its last four bytes, below any prefix. */
function isIsatap(groups: readonly number[]): boolean {
  return ((groups[4] ?? 0) & 0xfdff) === 0 && groups[5] === 0x5efe;
}

/** Eight numbers; the address is known to be valid. */
function groupsOf(address: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, a, b, c, d] = dotted ?? [];
  const plain =
    dotted === null
      ? address
      : `${address.slice(0, dotted.index)}${((+(a ?? 0) << 8) | +(b ?? 0)).toString(16)}:${((+(c ?? 0) << 8) | +(d ?? 0)).toString(16)}`;
  const [head = "", tail] = plain.split("::");
  const numbers = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const first = numbers(head);
  const last = numbers(tail ?? "");
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

function blockList(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

const lists = {
  loopback: blockList("127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"),
  // The instance services of AWS, Azure, Google, Oracle, Alibaba and DigitalOcean; Azure's wire server has a public address.
  metadata: blockList(
    "169.254.169.254/32",
    "169.254.170.2/32",
    "169.254.170.23/32",
    "168.63.129.16/32",
    "100.100.100.200/32",
    "192.0.0.192/32",
    "fd00:ec2::254/128",
    "fd00:ec2::23/128",
    "fd20:ce::254/128",
  ),
  private: blockList(
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
  ),
  unusable: blockList(
    "0.0.0.0/8",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
  ),
  /** Only global unicast is public. */
  global: blockList("2000::/3"),
};
