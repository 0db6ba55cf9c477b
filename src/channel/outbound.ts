// Sends messages to chat platforms, which register as senders, and reports the result.
import { OpenClawError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";

/** An address on a platform, as sessions store it. */
export interface Route {
  readonly channel: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly threadId?: string;
}

export interface OutboundMessage {
  /** One id per message; the same id is never sent twice (docs/decisions/0023-outbound-and-inbound-once.md). */
  readonly intentId: string;
  readonly route: Route;
  readonly text: string;
}

export interface Delivery {
  readonly state: "queued" | "sent" | "delivered" | "failed" | "unknown";
  /** The reason when it was not delivered. */
  readonly reason?: string;
}

export type Sender = (message: OutboundMessage) => Promise<Delivery>;

export interface Outbound {
  /** Ids of the platforms that can send now. */
  channels(): readonly string[];
  /** Throws `channel.unknown` when the platform is not configured. */
  send(message: OutboundMessage): Promise<Delivery>;
}

export function createOutbound(senders: ReadonlyMap<string, Sender>): Outbound {
  return {
    channels: () => [...senders.keys()],
    async send(message) {
      const { channel } = message.route;
      const sender = senders.get(channel);
      if (sender === undefined) throw unknownChannel(channel, [...senders.keys()]);
      return sender(message);
    },
  };
}

function unknownChannel(channel: string, known: readonly string[]): OpenClawError {
  const near = nearest(channel, known);
  return new OpenClawError("channel.unknown", `channel "${channel}" is not configured`, {
    hint:
      near === undefined ? "set it up under channels in the config, or leave the channel out" : `did you mean ${near}?`,
    details: { known },
  });
}
