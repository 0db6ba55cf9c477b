// Does a gateway run and answer; is its port taken by somebody else.
import { readGatewayState } from "../gateway-state.ts";
import { oneLine, span } from "../print.ts";
import { ok, type Check } from "./check.ts";

export const gateway: Check = {
  name: "Gateway",
  needsConfig: false,
  async look({ io }) {
    const { probe, owner, listening, target } = await readGatewayState(io, {}, { health: {} });
    if (probe.ok) return [ok(`answers at ${target.url}, up ${span(probe.hello.snapshot.uptimeMs)}`)];
    if (probe.error?.code === "gateway.unauthorized" || probe.error?.code === "gateway.not-paired") {
      return [
        {
          level: "warn",
          message: oneLine(probe.error.message),
          ...(probe.error.hint === undefined ? {} : { hint: probe.error.hint }),
        },
      ];
    }
    if (listening && owner === undefined) {
      return [
        {
          level: "warn",
          message: `the port of ${target.url} is taken by something that is no gateway of this state folder`,
          hint: "openclaw config set gateway.port <another>",
        },
      ];
    }
    if (owner !== undefined)
      return [
        {
          level: "fail",
          message: `process ${owner.pid} holds the state folder but does not answer`,
          hint: "openclaw gateway stop, then: openclaw gateway run",
        },
      ];
    return [{ level: "note", message: `none is running (${target.url})`, hint: "openclaw gateway run" }];
  },
};
