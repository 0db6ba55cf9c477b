// Where the report of a heartbeat goes, and what of it is shown there.
import type { Route } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import { routeOf } from "../../session/route.ts";
import type { SessionRecord } from "../../store/store.ts";
import type { HeartbeatSettings } from "./settings.ts";

export type Target =
  | { readonly route: Route }
  /** Only the session itself shows it. */
  | { readonly route: undefined; readonly reason: "no-target" | "unknown-account" };

export interface Visibility {
  readonly showOk: boolean;
  readonly showAlerts: boolean;
  readonly useIndicator: boolean;
}

type Request = Pick<HeartbeatSettings, "target" | "to" | "accountId">;

export function targetOf(
  request: Request,
  record: SessionRecord | undefined,
  channels: readonly string[],
  config: Config,
): Target {
  const last = routeOf(record);
  const route = request.target === "none" ? undefined : request.target === "last" ? last : named(request, last);
  if (route === undefined || !channels.includes(route.channel)) return { route: undefined, reason: "no-target" };
  const to = request.to ?? route.to;
  if (to === undefined) return { route: undefined, reason: "no-target" };
  const accountId = request.accountId ?? route.accountId;
  const known = channelPart(config, route.channel)?.accounts;
  if (accountId !== undefined && known !== undefined && known[accountId] === undefined)
    return { route: undefined, reason: "unknown-account" };
  return { route: { ...route, to, ...(accountId === undefined ? {} : { accountId }) } };
}

function named({ target }: Request, last: Route | undefined): Route {
  return last?.channel === target ? last : { channel: target };
}

/** Account settings override channel settings, which override the defaults. */
export function visibilityOf(config: Config, route: Route | undefined): Visibility {
  const channel = route === undefined ? undefined : channelPart(config, route.channel);
  const account = route?.accountId === undefined ? undefined : channel?.accounts?.[route.accountId];
  const shared = config.channels?.defaults?.heartbeat;
  const pick = (name: keyof Visibility, otherwise: boolean): boolean =>
    account?.heartbeat?.[name] ?? channel?.heartbeat?.[name] ?? shared?.[name] ?? otherwise;
  return {
    showOk: pick("showOk", false),
    showAlerts: pick("showAlerts", true),
    useIndicator: pick("useIndicator", true),
  };
}

interface ChannelPart {
  readonly heartbeat?: Partial<Visibility>;
  readonly accounts?: Readonly<Record<string, { readonly heartbeat?: Partial<Visibility> } | undefined>>;
}

/** The two fields that all channels share. */
function channelPart(config: Config, channel: string): ChannelPart | undefined {
  return (config.channels as Readonly<Record<string, unknown>> | undefined)?.[channel] as ChannelPart | undefined;
}
