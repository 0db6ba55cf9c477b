// Pairing of devices and their tokens; node pairing uses the same record (docs/decisions/0033-one-pairing-record.md).
import { Type } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";
import type { Role } from "../scope.ts";

const request = Type.Object({ requestId: nonEmpty }, closed);

export const devicePairList = method("device.pair.list", "operator.pairing", noParams, returns<PairedDevices>());
export const devicePairApprove = method(
  "device.pair.approve",
  "operator.pairing",
  request,
  returns<{ readonly requestId: string; readonly device: PairedDevice }>(),
);
export const devicePairReject = method(
  "device.pair.reject",
  "operator.pairing",
  request,
  returns<{ readonly requestId: string; readonly deviceId: string }>(),
);
/** Ours: a one-time code that pairs one browser by link. */
export const devicePairCode = method(
  "device.pair.code",
  "operator.pairing",
  noParams,
  returns<{ readonly code: string; readonly expiresAtMs: number }>(),
);
export const deviceTokenRotate = method(
  "device.token.rotate",
  "operator.pairing",
  Type.Object({ deviceId: nonEmpty, role: nonEmpty, scopes: optional(Type.Array(nonEmpty)) }, closed),
  returns<RotatedToken>(),
);
export const deviceTokenRevoke = method(
  "device.token.revoke",
  "operator.pairing",
  Type.Object({ deviceId: nonEmpty, role: nonEmpty }, closed),
  returns<{ readonly deviceId: string; readonly role: string; readonly revokedAtMs: number }>(),
);
export const nodePairList = method("node.pair.list", "operator.pairing", noParams, returns<PairedNodes>());
export const nodePairApprove = method(
  "node.pair.approve",
  "operator.pairing",
  request,
  returns<{ readonly requestId: string; readonly node: PairedNode & { readonly token?: string } }>(),
);
export const nodePairReject = method(
  "node.pair.reject",
  "operator.pairing",
  request,
  returns<{ readonly requestId: string; readonly nodeId: string }>(),
);
const id = Type.String({ minLength: 1, maxLength: 200 });
const names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500 });
export const nodePairRequest = method(
  "node.pair.request",
  "operator.pairing",
  Type.Object(
    {
      nodeId: id,
      displayName: optional(id),
      platform: optional(id),
      version: optional(id),
      coreVersion: optional(id),
      uiVersion: optional(id),
      deviceFamily: optional(id),
      modelIdentifier: optional(id),
      caps: optional(names),
      commands: optional(names),
      remoteIp: optional(id),
      silent: optional(Type.Boolean()),
    },
    closed,
  ),
  returns<NodePairRequested>(),
);
export const nodePairVerify = method(
  "node.pair.verify",
  "operator.pairing",
  Type.Object({ nodeId: nonEmpty, token: nonEmpty }, closed),
  returns<NodePairVerified>(),
);

/** `permissions` are those of the node's system; one that is not granted is false. */
export interface NodeAbilities {
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
}

export interface PairedDevices {
  readonly pending: readonly PendingDevice[];
  readonly paired: readonly PairedDevice[];
}

export interface PendingDevice extends Partial<NodeAbilities> {
  readonly requestId: string;
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: Role;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  readonly remoteIp?: string;
  readonly silent: boolean;
  readonly isRepair: boolean;
  readonly ts: number;
  /** Of a paired node that offers more than was approved: the difference. It stays connected without it. */
  readonly added?: NodeAbilities;
}

export interface DeviceTokenFacts {
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly rotatedAtMs?: number;
  readonly revokedAtMs?: number;
  readonly lastUsedAtMs?: number;
}

export interface PairedDevice {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: Role;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly approvedAtMs: number;
  readonly tokens: readonly DeviceTokenFacts[];
  /** Of a node: what its owner approved. Older records have none until the node connects again. */
  readonly abilities?: NodeAbilities;
}

export interface RotatedToken {
  readonly deviceId: string;
  readonly role: string;
  readonly token: string;
  readonly scopes: readonly string[];
  readonly rotatedAtMs?: number;
}

/** A paired node; `caps` and `commands` are empty while it is not connected. */
export interface PairedNode {
  readonly nodeId: string;
  readonly displayName?: string;
  readonly platform: string;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly version?: string;
  readonly connectedAtMs?: number;
  readonly paired: true;
  readonly connected: boolean;
}

export interface PairedNodes {
  readonly pending: readonly (PendingDevice & { readonly nodeId: string })[];
  readonly paired: readonly PairedNode[];
}

export interface NodePairRequested {
  readonly status: "pending";
  readonly request: Partial<NodeAbilities> & {
    readonly requestId: string;
    readonly nodeId: string;
    readonly displayName?: string;
    readonly platform: string;
    readonly remoteIp?: string;
    readonly silent?: boolean;
    readonly isRepair: boolean;
    readonly ts: number;
    readonly version?: string;
    readonly coreVersion?: string;
    readonly uiVersion?: string;
    readonly deviceFamily?: string;
    readonly modelIdentifier?: string;
  };
  readonly created: boolean;
}

export type NodePairVerified =
  | { readonly ok: false }
  | {
      readonly ok: true;
      readonly node: PairedNode & {
        readonly token: string;
        readonly createdAtMs: number;
        readonly approvedAtMs: number;
      };
    };
