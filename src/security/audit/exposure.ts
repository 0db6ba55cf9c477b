// Checks who can reach the gateway over the network and how it authenticates them.
import { sharedSecret } from "../../gateway/secret.ts";
import { at, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { weaknessOf } from "./weak-secret.ts";

const NEW_SECRET = "$(openssl rand -hex 24)";

export function checkExposure(context: AuditContext): Finding[] {
  const { gateway = {} } = context.loaded.config;
  if (gateway.mode === "remote") return remoteFindings(context);
  return [...bindFindings(context), ...secretFindings(context), ...pageFindings(context), ...proxyFindings(context)];
}

function isOpen({ loaded }: AuditContext): boolean {
  const { bind = "loopback", customBindHost = "", tailscale } = loaded.config.gateway ?? {};
  if (tailscale?.mode === "funnel") return true;
  if (bind === "custom") return !/^(?:127\.|::1$|localhost$)/.test(customBindHost);
  return bind === "lan" || bind === "tailnet";
}

function bindFindings(context: AuditContext): Finding[] {
  const { bind = "loopback", customBindHost, tailscale } = context.loaded.config.gateway ?? {};
  const found: Finding[] = [];
  if (isOpen(context) && bind !== "loopback" && bind !== "auto") {
    const everywhere = bind === "lan" || customBindHost === "0.0.0.0" || customBindHost === "::";
    found.push({
      id: "exposure.bind",
      weight: everywhere ? "high" : "medium",
      what: `gateway.bind is ${bind}: other machines can reach the gateway`,
      why: "only its secret protects your files, and it is sent unencrypted; from other machines an SSH tunnel is safer: ssh -L 18789:127.0.0.1:18789 <this machine>",
      where: at(context, "gateway.bind"),
      fix: setKey("gateway.bind", "loopback"),
    });
  }
  if (tailscale?.mode === "funnel")
    found.push({
      id: "exposure.funnel",
      weight: "critical",
      what: "gateway.tailscale.mode is funnel: the whole internet can reach the gateway",
      why: "attackers try passwords all the time; one vulnerability or one leaked secret is enough",
      where: at(context, "gateway.tailscale.mode"),
      fix: setKey("gateway.tailscale.mode", "serve"),
    });
  return found;
}

function secretFindings(context: AuditContext): Finding[] {
  const { config, env } = context.loaded;
  const { mode, value } = sharedSecret(config, env);
  const key = `gateway.auth.${mode}`;
  const fix = `${setKey(key, NEW_SECRET)} && openclaw gateway restart`;
  if (value === undefined)
    return [
      {
        id: "exposure.no-secret",
        weight: isOpen(context) ? "high" : "info",
        what: `no ${mode} is set for the gateway`,
        why: isOpen(context)
          ? "it does not listen to other machines without one"
          : "only paired devices can connect, and this command line is not paired",
        where: at(context, key),
        fix,
      },
    ];
  const weakness = weaknessOf(value);
  if (weakness === undefined) return [];
  return [
    {
      id: "exposure.weak-secret",
      weight: isOpen(context) ? "critical" : "high",
      what: `the gateway's ${mode} can be guessed: ${weakness}`,
      why: "whoever has it acts as you, and any program on this machine can try it",
      where: at(context, key),
      fix,
    },
  ];
}

function pageFindings(context: AuditContext): Finding[] {
  const { controlUi } = context.loaded.config.gateway ?? {};
  const found: Finding[] = [];
  if (controlUi?.dangerouslyDisableDeviceAuth === true)
    found.push({
      id: "exposure.no-device",
      weight: "critical",
      what: "gateway.controlUi.dangerouslyDisableDeviceAuth is on: anyone with the token gets in without pairing",
      why: "a leaked token alone is then enough, from any browser",
      where: at(context, "gateway.controlUi.dangerouslyDisableDeviceAuth"),
      fix: unsetKey("gateway.controlUi.dangerouslyDisableDeviceAuth"),
    });
  if (controlUi?.allowInsecureAuth === true)
    found.push({
      id: "exposure.insecure-auth",
      weight: isOpen(context) ? "critical" : "high",
      what: "gateway.controlUi.allowInsecureAuth is on: the page accepts a token over plain HTTP",
      why: "a token that is read in transit works from anywhere",
      where: at(context, "gateway.controlUi.allowInsecureAuth"),
      fix: unsetKey("gateway.controlUi.allowInsecureAuth"),
    });
  for (const [index, origin] of (controlUi?.allowedOrigins ?? []).entries()) {
    const path = `gateway.controlUi.allowedOrigins[${index}]`;
    if (origin.includes("*") || origin === "null")
      found.push({
        id: "exposure.any-origin",
        weight: "medium",
        what: `gateway.controlUi.allowedOrigins contains ${origin}`,
        why: "this gateway compares whole origins, so the entry matches none; other programs would let in every web page you open",
        where: at(context, path),
        fix: unsetKey(path),
      });
    else if (origin.startsWith("http://") && !/^http:\/\/(?:localhost|127\.|\[::1\])/.test(origin))
      found.push({
        id: "exposure.plain-origin",
        weight: "medium",
        what: `gateway.controlUi.allowedOrigins allows ${origin}, which is not encrypted`,
        why: "anyone on the network path can serve their own page from there",
        where: at(context, path),
        fix: setKey(path, origin.replace("http:", "https:")),
      });
  }
  return found;
}

function proxyFindings(context: AuditContext): Finding[] {
  const { trustedProxies = [], allowedHosts = [], auth, tailscale } = context.loaded.config.gateway ?? {};
  const proxies = trustedProxies.flatMap((proxy, index): Finding[] => {
    const path = `gateway.trustedProxies[${index}]`;
    const [address = "", bits] = proxy.split("/");
    const isAll = address === "*" || bits === "0" || address === "0.0.0.0" || address === "::";
    if (!isAll && bits === undefined) return [];
    return [
      {
        id: "exposure.trusted-proxies",
        weight: isAll ? "medium" : "low",
        what: `gateway.trustedProxies trusts ${isAll ? "every address" : "a range"}: ${proxy}`,
        why: "a trusted proxy sets the client address; this gateway accepts single addresses only, so the entry has no effect, and a wider one would be unsafe",
        where: at(context, path),
        fix: unsetKey(path),
      },
    ];
  });
  const hosts = allowedHosts.flatMap((host, index): Finding[] =>
    host.includes("*")
      ? [
          {
            id: "exposure.any-host",
            weight: "low",
            what: `gateway.allowedHosts contains ${host}`,
            why: "whole names are compared, so the entry matches none; a wildcard would allow pages whose name resolves to this machine",
            where: at(context, `gateway.allowedHosts[${index}]`),
            fix: unsetKey(`gateway.allowedHosts[${index}]`),
          },
        ]
      : [],
  );
  const byTailscale: Finding[] =
    auth?.allowTailscale === true && tailscale?.mode !== "serve"
      ? [
          {
            id: "exposure.tailscale-names",
            weight: "medium",
            what: "gateway.auth.allowTailscale is on without tailscale.mode serve",
            why: "no proxy in front of the gateway then verifies the names it receives",
            where: at(context, "gateway.auth.allowTailscale"),
            fix: unsetKey("gateway.auth.allowTailscale"),
          },
        ]
      : [];
  return [...proxies, ...hosts, ...byTailscale];
}

function remoteFindings(context: AuditContext): Finding[] {
  const url = context.loaded.config.gateway?.remote?.url ?? "";
  if (!/^(?:ws|http):\/\//.test(url) || /^\w+:\/\/(?:localhost|127\.|\[::1\])/.test(url)) return [];
  return [
    {
      id: "exposure.plain-remote",
      weight: "high",
      what: `the connection to the gateway at ${url} is not encrypted`,
      why: "anyone on the network path can read the token that this command line sends",
      where: at(context, "gateway.remote.url"),
      fix: setKey("gateway.remote.url", url.replace(/^ws:/, "wss:").replace(/^http:/, "https:")),
    },
  ];
}
