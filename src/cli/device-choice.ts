// Options that name a device: its id, or the start of it.
import { OpenClawError } from "../core/error.ts";
import type { GatewayClient } from "./client.ts";
import { UsageError, type Options } from "./command.ts";

export const deviceOptions = {
  device: { type: "string", value: "id", description: "Id of the device, or the start of it." },
  role: { type: "string", value: "role", choices: ["operator", "node"], description: "Role of the token." },
} as const satisfies Options;

/** Throws unless exactly one paired device has an id that starts with `written`. */
export async function fullDeviceId(client: GatewayClient, written: string | undefined): Promise<string> {
  if (written === undefined || written === "") throw new UsageError("missing --device <id>");
  const { paired } = await client.call("device.pair.list", {});
  const found = paired.map(({ deviceId }) => deviceId).filter((id) => id.startsWith(written.toLowerCase()));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const message =
    found.length === 0
      ? `no paired device has an id that starts with ${written}`
      : `${found.length} device ids start with ${written}; give more of the id`;
  throw new OpenClawError("device.unknown", message, { hint: "openclaw devices list --json" });
}

export function requireRole(role: string | undefined): string {
  if (role === undefined) throw new UsageError("missing --role operator or --role node");
  return role;
}
