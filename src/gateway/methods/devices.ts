// Pairing and device tokens; node pairing uses the same record (docs/decisions/0033-one-pairing-record.md).
import * as methods from "../../protocol/methods/devices.ts";
import type { Client } from "../client.ts";
import type { GatewayContext } from "../context.ts";
import { toWireDevice, toWireRequest, type Device, type PairRequest } from "../devices.ts";
import { serve, type Served } from "../dispatch.ts";

export function deviceMethods(context: GatewayContext): Served[] {
  const { devices, hub, clock, log } = context;

  const approve = async (requestId: string, client: Client) => {
    const { request, device } = await devices.approve(requestId, client.scopes);
    for (const node of hub.clients)
      if (node.role === "node" && node.deviceId === device.deviceId && device.abilities !== undefined)
        node.approve(device.abilities);
    resolved(request, "approved");
    log.info(`device approved: ${request.clientId} as ${request.role}`, {
      deviceId: request.deviceId,
      by: client.info.id,
    });
    return device;
  };
  const reject = async (requestId: string): Promise<string> => {
    const request = await devices.reject(requestId);
    resolved(request, "rejected");
    return request.deviceId;
  };
  const resolved = ({ requestId, deviceId, role }: PairRequest, decision: string): void => {
    const facts = { requestId, decision, ts: clock.now() };
    hub.broadcast("device.pair.resolved", { ...facts, deviceId }, { needs: "operator.pairing" });
    if (role === "node")
      hub.broadcast("node.pair.resolved", { ...facts, nodeId: deviceId }, { needs: "operator.pairing" });
  };

  return [
    serve(methods.devicePairList)(async () => {
      const { pending, paired } = await devices.list();
      return { pending: pending.map(toWireRequest), paired: paired.map(toWireDevice) };
    }),
    serve(methods.devicePairApprove)(async ({ requestId }, client) => ({
      requestId,
      device: toWireDevice(await approve(requestId, client)),
    })),
    serve(methods.devicePairReject)(async ({ requestId }) => ({ requestId, deviceId: await reject(requestId) })),
    serve(methods.devicePairCode)((_params, client) => devices.newCode(client.scopes)),
    serve(methods.deviceTokenRotate)(async ({ deviceId, role, scopes }, client) => {
      const { token, entry } = await devices.rotate(deviceId, role, scopes, client.scopes);
      hub.dropDevice(deviceId, role, client);
      return { deviceId, role, token, scopes: entry.scopes, rotatedAtMs: entry.rotatedAtMs };
    }),
    serve(methods.deviceTokenRevoke)(async ({ deviceId, role }) => {
      const revokedAtMs = await devices.revoke(deviceId, role);
      hub.dropDevice(deviceId, role);
      return { deviceId, role, revokedAtMs };
    }),
    serve(methods.nodePairList)(async () => {
      const { pending, paired } = await devices.list();
      return {
        pending: pending
          .filter(({ role }) => role === "node")
          .map((request) => ({ ...toWireRequest(request), nodeId: request.deviceId })),
        paired: paired.filter(({ roles }) => roles.includes("node")).map((device) => toNode(device, hub.clients)),
      };
    }),
    serve(methods.nodePairApprove)(async ({ requestId }, client) => {
      const device = await approve(requestId, client);
      // A node without a key gets its token only here.
      const issued = device.publicKey === "" ? await devices.tokenFor(device, "node") : undefined;
      const token = issued === undefined ? {} : { token: issued.deviceToken };
      return { requestId, node: { ...toNode(device, hub.clients), ...token } };
    }),
    serve(methods.nodePairReject)(async ({ requestId }) => ({ requestId, nodeId: await reject(requestId) })),
  ];
}

export function toNode(device: Device, clients: Iterable<Client>): methods.PairedNode {
  const online = [...clients].find((client) => client.deviceId === device.deviceId && client.role === "node");
  return {
    nodeId: device.deviceId,
    ...(device.displayName === undefined ? {} : { displayName: device.displayName }),
    platform: device.platform,
    caps: online === undefined ? [] : [...online.caps].sort(),
    commands: online === undefined ? [] : [...online.commands].sort(),
    ...(online === undefined ? {} : { version: online.info.version, connectedAtMs: online.connectedAt }),
    paired: true,
    connected: online !== undefined,
  };
}
