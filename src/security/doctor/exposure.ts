// Who can reach the gateway over the network.
import { sharedSecret } from "../../gateway/secret.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const exposure: Check = {
  name: "Exposure",
  needsConfig: true,
  run({ loaded }) {
    const { bind = "loopback", controlUi, tailscale, trustedProxies = [] } = loaded.config.gateway ?? {};
    const open = bind !== "loopback" && bind !== "auto";
    const hasSecret = sharedSecret(loaded.config, loaded.env).value !== undefined;
    const found: Finding[] = [
      ...warnIf(
        open && !hasSecret,
        "fail",
        `gateway.bind is ${bind} and no secret is set, so the gateway refuses to start`,
        "openclaw config set gateway.auth.token $(openssl rand -hex 24)",
      ),
      ...warnIf(
        open && hasSecret,
        "note",
        `gateway.bind is ${bind}: other machines can reach the gateway; they need its secret`,
        "openclaw config set gateway.bind loopback, if only this machine should",
      ),
      ...warnIf(
        controlUi?.dangerouslyDisableDeviceAuth === true,
        "fail",
        "gateway.controlUi.dangerouslyDisableDeviceAuth is on: anyone with the token gets in without pairing",
        "openclaw config unset gateway.controlUi.dangerouslyDisableDeviceAuth",
      ),
      ...warnIf(
        controlUi?.allowInsecureAuth === true,
        "warn",
        "gateway.controlUi.allowInsecureAuth is on: the page accepts a token over plain HTTP",
        "openclaw config unset gateway.controlUi.allowInsecureAuth",
      ),
      ...warnIf(
        tailscale?.mode === "funnel",
        "warn",
        "gateway.tailscale.mode is funnel: the whole internet can reach the gateway",
        "openclaw config set gateway.tailscale.mode serve",
      ),
      ...warnIf(
        trustedProxies.some((proxy) => /^(?:0\.0\.0\.0|::)(?:\/0)?$/.test(proxy)),
        "fail",
        "gateway.trustedProxies trusts every address to set the client address",
        "name the address of your proxy in gateway.trustedProxies",
      ),
    ];
    return found.length === 0 ? [ok("only this machine can reach the gateway")] : found;
  },
};

function warnIf(isSo: boolean, level: Finding["level"], message: string, hint: string): Finding[] {
  return isSo ? [{ level, message, hint }] : [];
}
