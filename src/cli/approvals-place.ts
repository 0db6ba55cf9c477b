// Which approvals file a command works on: the one of this machine, of the gateway, or of a node (through the gateway).
import { checker } from "../core/schema.ts";
import { ApprovalsFileSchema } from "../protocol/methods/approvals.ts";
import type { ApprovalsFile, ApprovalsSnapshot } from "../exec/policy/file.ts";
import { withGateway, type GatewayClient } from "./client.ts";
import { UsageError, type Options } from "./command.ts";
import type { Io } from "./io.ts";
import { requireConfigUnless } from "./settings.ts";
import { targetOf, wireOptions, type WireFlags } from "./target.ts";

export const placeOptions = {
  gateway: {
    type: "boolean",
    description: "Use the approvals file of the gateway's machine (default: the one on this machine).",
  },
  node: {
    type: "string",
    value: "node",
    description: "Use the approvals file of a node, given by its id, the start of it, its name or address.",
  },
  ...wireOptions,
} as const satisfies Options;

export interface PlaceFlags extends WireFlags {
  readonly gateway?: boolean;
  readonly node?: string;
}

export interface Place {
  read(): Promise<ApprovalsSnapshot>;
  /** Fails when the file has changed since `base` was read. */
  write(file: ApprovalsFile, base: ApprovalsSnapshot): Promise<ApprovalsSnapshot>;
}

export async function atPlace<T>(io: Io, flags: PlaceFlags, work: (place: Place) => Promise<T>): Promise<T> {
  const { gateway = false, node, url } = flags;
  if (gateway && node !== undefined) throw new UsageError("--gateway and --node exclude each other; give one of them");
  await requireConfigUnless(url !== undefined, io);
  if (!gateway && node === undefined && url === undefined) return work(await localPlace(io));
  return withGateway(io, await targetOf(io, flags), async (client) =>
    work(node === undefined ? gatewayPlace(client) : await nodePlace(client, node)),
  );
}

const fileChecker = checker(ApprovalsFileSchema);

/** Parses a file that a person wrote, completely or not at all. */
export function parseFile(value: unknown, from: string): ApprovalsFile {
  return fileChecker.parse(value, "approvals.invalid", from);
}

async function localPlace(io: Io): Promise<Place> {
  const { readApprovals, withoutToken, writeApprovals } = await import("../exec/policy/file.ts");
  const { state } = io.paths();
  return {
    read: async () => withoutToken(readApprovals(state)),
    write: async (file, { hash }) => withoutToken(writeApprovals(state, file, hash)),
  };
}

function gatewayPlace(client: GatewayClient): Place {
  return {
    read: () => client.call("exec.approvals.get", {}),
    write: (file, base) => client.call("exec.approvals.set", { file, ...baseOf(base) }),
  };
}

async function nodePlace(client: GatewayClient, reference: string): Promise<Place> {
  const { resolveNode } = await import("../node/resolve.ts");
  const { nodes } = await client.call("node.list", {});
  const { nodeId } = resolveNode(reference, nodes);
  return {
    read: async () => (await client.call("exec.approvals.node.get", { nodeId })) as ApprovalsSnapshot,
    write: async (file, base) =>
      (await client.call("exec.approvals.node.set", { nodeId, file, ...baseOf(base) })) as ApprovalsSnapshot,
  };
}

const baseOf = ({ hash }: ApprovalsSnapshot): { baseHash?: string } => (hash === "" ? {} : { baseHash: hash });
