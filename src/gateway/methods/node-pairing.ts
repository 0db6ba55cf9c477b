// node.pair.request and node.pair.verify: pairing of a node by its id, on the record of device pairing.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/devices.ts";
import type { GatewayContext } from "../context.ts";
import { announcePairRequest, type PairRequest } from "../devices.ts";
import { serve, type Served } from "../dispatch.ts";
import { toNode } from "./devices.ts";

export function nodePairingMethods({ devices, hub }: Pick<GatewayContext, "devices" | "hub">): Served[] {
  return [
    serve(methods.nodePairRequest)(async ({ nodeId, caps, commands, displayName, platform, remoteIp, ...facts }) => {
      const known = await devices.get(nodeId);
      // A node request must not change the scopes of an operator device.
      if (known !== undefined && !known.roles.includes("node"))
        throw new OpenClawError("wire.invalid-request", "nodeId is the id of a paired device that is not a node", {
          hint: "openclaw devices list",
        });
      const { pending } = await devices.list();
      const waiting = pending.find(({ deviceId, role }) => deviceId === nodeId && role === "node");
      const isAsked = caps !== undefined || commands !== undefined;
      const asked = { caps: caps ?? [], commands: commands ?? [] };
      const { request, created } = await devices.request({
        deviceId: nodeId,
        publicKey: known?.publicKey ?? "",
        ...(displayName === undefined ? {} : { displayName }),
        platform: platform ?? known?.platform ?? "unknown",
        clientId: "node-host",
        clientMode: "node",
        role: "node",
        scopes: [],
        ...(remoteIp === undefined ? {} : { remoteIp }),
        // Always set: a node approved without abilities would get everything it offers.
        abilities: (isAsked ? undefined : waiting?.abilities) ?? asked,
      });
      if (created) announcePairRequest(hub, request);
      return { status: "pending", request: { ...nodeRequest(request), ...(created ? facts : {}) }, created };
    }),
    serve(methods.nodePairVerify)(async ({ nodeId, token }) => {
      const device = await devices.get(nodeId);
      if (device === undefined || !(await devices.isToken(device, "node", token))) return { ok: false };
      const { createdAtMs, approvedAtMs } = device;
      return { ok: true, node: { ...toNode(device, hub.clients), token, createdAtMs, approvedAtMs } };
    }),
  ];
}

function nodeRequest(request: PairRequest): methods.NodePairRequested["request"] {
  const { requestId, deviceId, displayName, platform, abilities, remoteIp, silent, isRepair, ts } = request;
  return {
    requestId,
    nodeId: deviceId,
    ...(displayName === undefined ? {} : { displayName }),
    platform,
    ...abilities,
    ...(remoteIp === undefined ? {} : { remoteIp }),
    silent,
    isRepair,
    ts,
  };
}
