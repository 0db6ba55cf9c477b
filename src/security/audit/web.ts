// Checks web access: exceptions of the guard that open more than one host.
import { at, listWithout, setKey, type Finding, type AuditContext } from "./finding.ts";

const PATH = "tools.web.allowPrivateHosts";

export function checkWeb(context: AuditContext): Finding[] {
  const hosts = context.loaded.config.tools?.web?.allowPrivateHosts ?? [];
  return hosts.flatMap((entry, index): Finding[] =>
    isWide(entry)
      ? [
          {
            id: "web.wide-exception",
            weight: "medium",
            what: `agents may fetch every URL of ${entry}`,
            why: "a page or a message can make the agent send requests to any service there, such as a router or a database",
            where: at(context, `${PATH}[${index}]`),
            fix: setKey(
              PATH,
              listWithout(hosts, (one) => one === entry),
            ),
          },
        ]
      : [],
  );
}

/** A network of more than 256 addresses, or this machine on every port. */
function isWide(entry: string): boolean {
  const bits = /\/(\d+)$/.exec(entry)?.[1];
  if (bits !== undefined) return Number(bits) < (entry.includes(":") ? 120 : 24);
  return /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i.test(entry);
}
