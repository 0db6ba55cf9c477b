// `openclaw gateway discover`: lists the gateways that announce themselves on the local network.
import { browse } from "../../gateway/discovery/browse.ts";
import { interfacesOf } from "../../gateway/discovery/multicast.ts";
import type { FoundGateway } from "../../gateway/discovery/service.ts";
import { defineCommand } from "../command.ts";
import { wholeNumber } from "../parse.ts";
import { oneLine, table, toJson } from "../print.ts";

const DEFAULT_MS = 2000;
const MAX_MS = 60_000;

export const command = defineCommand({
  options: {
    timeout: {
      type: "string",
      value: "ms",
      description: `Milliseconds to wait for answers (default ${DEFAULT_MS}).`,
    },
  },
  examples: [
    { line: "gateway discover", does: "two seconds" },
    { line: "gateway discover --timeout 5000 --json", does: "five seconds, as JSON" },
  ],
  exits: "0 at least one answers, 1 none answers, 2 wrong usage",
  async run(io, { options }) {
    const ms = wholeNumber("timeout", options.timeout, { min: 1, max: MAX_MS }) ?? DEFAULT_MS;
    const found = await browse(interfacesOf(io.env), ms);
    if (io.json) io.print(toJson({ gateways: found.map((one) => ({ ...one, url: urlOf(one) })) }));
    else if (found.length > 0) io.print(table(found, columns, io).join("\n"));
    if (found.length === 0)
      io.say("no gateway announces itself here; one does when gateway.bind is lan and discovery.mdns.mode is not off");
    else io.say("anyone on the network can announce anything: compare the address before you give it a token");
    return found.length > 0 ? 0 : 1;
  },
});

const columns = [
  { title: "Name", text: ({ name, text }: FoundGateway) => oneLine(text["displayName"] ?? name) },
  { title: "Address", text: (one: FoundGateway) => oneLine(urlOf(one)) },
  { title: "Host", text: ({ host }: FoundGateway) => oneLine(host) },
];

function urlOf({ addresses, host, port, text }: FoundGateway): string {
  return `${text["gatewayTls"] === "1" ? "wss" : "ws"}://${addresses[0] ?? host}:${port}`;
}
