// Pairing of devices and their tokens; node pairing acts on the same record (ruling 33).
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";

const request = Type.Object({ requestId: word }, closed);

export const devicePairList = method("device.pair.list", "operator.pairing", none);
export const devicePairApprove = method("device.pair.approve", "operator.pairing", request);
export const devicePairReject = method("device.pair.reject", "operator.pairing", request);
/** Ours: a one-time code that pairs one browser by link. */
export const devicePairCode = method("device.pair.code", "operator.pairing", none);
export const deviceTokenRotate = method(
  "device.token.rotate",
  "operator.pairing",
  Type.Object({ deviceId: word, role: word, scopes: maybe(Type.Array(word)) }, closed),
);
export const deviceTokenRevoke = method(
  "device.token.revoke",
  "operator.pairing",
  Type.Object({ deviceId: word, role: word }, closed),
);
export const nodePairList = method("node.pair.list", "operator.pairing", none);
export const nodePairApprove = method("node.pair.approve", "operator.pairing", request);
export const nodePairReject = method("node.pair.reject", "operator.pairing", request);
const id = Type.String({ minLength: 1, maxLength: 200 });
const names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500 });
export const nodePairRequest = method(
  "node.pair.request",
  "operator.pairing",
  Type.Object(
    {
      nodeId: id,
      displayName: maybe(id),
      platform: maybe(id),
      version: maybe(id),
      coreVersion: maybe(id),
      uiVersion: maybe(id),
      deviceFamily: maybe(id),
      modelIdentifier: maybe(id),
      caps: maybe(names),
      commands: maybe(names),
      remoteIp: maybe(id),
      silent: maybe(Type.Boolean()),
    },
    closed,
  ),
);
export const nodePairVerify = method(
  "node.pair.verify",
  "operator.pairing",
  Type.Object({ nodeId: word, token: word }, closed),
);
