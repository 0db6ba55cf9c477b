// Who can reach the gateway, and what stands between them and it.
import { sharedSecret } from "../../gateway/secret.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { weaknessOf } from "./weak-secret.ts";

const NEW_SECRET = "$(openssl rand -hex 24)";

export function checkExposure(ground: Ground): Finding[] {
  const { gateway = {} } = ground.loaded.config;
  if (gateway.mode === "remote") return remoteFindings(ground);
  return [...bindFindings(ground), ...secretFindings(ground), ...pageFindings(ground), ...aroundFindings(ground)];
}

function isOpen({ loaded }: Ground): boolean {
  const { bind = "loopback", customBindHost = "", tailscale } = loaded.config.gateway ?? {};
  if (tailscale?.mode === "funnel") return true;
  if (bind === "custom") return !/^(?:127\.|::1$|localhost$)/.test(customBindHost);
  return bind === "lan" || bind === "tailnet";
}

function bindFindings(ground: Ground): Finding[] {
  const { bind = "loopback", customBindHost, tailscale } = ground.loaded.config.gateway ?? {};
  const found: Finding[] = [];
  if (isOpen(ground) && bind !== "loopback" && bind !== "auto") {
    const everywhere = bind === "lan" || customBindHost === "0.0.0.0" || customBindHost === "::";
    found.push({
      id: "exposure.bind",
      weight: everywhere ? "high" : "medium",
      what: `gateway.bind is ${bind}: other machines can reach the gateway`,
      why: "only its secret stands between them and your files, and it travels unencrypted; from elsewhere, a tunnel is safer: ssh -L 18789:127.0.0.1:18789 <this machine>",
      where: at(ground, "gateway.bind"),
      fix: setKey("gateway.bind", "loopback"),
    });
  }
  if (tailscale?.mode === "funnel")
    found.push({
      id: "exposure.funnel",
      weight: "critical",
      what: "gateway.tailscale.mode is funnel: the whole internet can reach the gateway",
      why: "attackers try passwords all day; one hole or one leaked secret is enough",
      where: at(ground, "gateway.tailscale.mode"),
      fix: setKey("gateway.tailscale.mode", "serve"),
    });
  return found;
}

function secretFindings(ground: Ground): Finding[] {
  const { config, env } = ground.loaded;
  const { mode, value } = sharedSecret(config, env);
  const key = `gateway.auth.${mode}`;
  const fix = `${setKey(key, NEW_SECRET)} && openclaw gateway restart`;
  if (value === undefined)
    return [
      {
        id: "exposure.no-secret",
        weight: isOpen(ground) ? "high" : "info",
        what: `no ${mode} is set for the gateway`,
        why: isOpen(ground)
          ? "it refuses to listen to other machines without one"
          : "only paired devices get in; this command is none of them until it has a secret to show",
        where: at(ground, key),
        fix,
      },
    ];
  const weakness = weaknessOf(value);
  if (weakness === undefined) return [];
  return [
    {
      id: "exposure.weak-secret",
      weight: isOpen(ground) ? "critical" : "high",
      what: `the gateway's ${mode} can be guessed: ${weakness}`,
      why: "whoever has it is you; any program on this machine may try",
      where: at(ground, key),
      fix,
    },
  ];
}

function pageFindings(ground: Ground): Finding[] {
  const { controlUi } = ground.loaded.config.gateway ?? {};
  const found: Finding[] = [];
  if (controlUi?.dangerouslyDisableDeviceAuth === true)
    found.push({
      id: "exposure.no-device",
      weight: "critical",
      what: "gateway.controlUi.dangerouslyDisableDeviceAuth is on: whoever has the token is in, without pairing",
      why: "a leaked token alone is then enough, from any browser",
      where: at(ground, "gateway.controlUi.dangerouslyDisableDeviceAuth"),
      fix: unsetKey("gateway.controlUi.dangerouslyDisableDeviceAuth"),
    });
  if (controlUi?.allowInsecureAuth === true)
    found.push({
      id: "exposure.insecure-auth",
      weight: isOpen(ground) ? "critical" : "high",
      what: "gateway.controlUi.allowInsecureAuth is on: the page signs in by token alone over plain HTTP",
      why: "a token read on the way works from anywhere",
      where: at(ground, "gateway.controlUi.allowInsecureAuth"),
      fix: unsetKey("gateway.controlUi.allowInsecureAuth"),
    });
  for (const [index, origin] of (controlUi?.allowedOrigins ?? []).entries()) {
    const path = `gateway.controlUi.allowedOrigins[${index}]`;
    if (origin.includes("*") || origin === "null")
      found.push({
        id: "exposure.any-origin",
        weight: "medium",
        what: `gateway.controlUi.allowedOrigins holds ${origin}`,
        why: "this gateway compares origins whole, so the entry lets nobody in; elsewhere it would let in every web page you open",
        where: at(ground, path),
        fix: unsetKey(path),
      });
    else if (origin.startsWith("http://") && !/^http:\/\/(?:localhost|127\.|\[::1\])/.test(origin))
      found.push({
        id: "exposure.plain-origin",
        weight: "medium",
        what: `gateway.controlUi.allowedOrigins lets in ${origin}, which is not encrypted`,
        why: "whoever sits on the way can put their own page there",
        where: at(ground, path),
        fix: setKey(path, origin.replace("http:", "https:")),
      });
  }
  return found;
}

function aroundFindings(ground: Ground): Finding[] {
  const { trustedProxies = [], allowedHosts = [], auth, tailscale } = ground.loaded.config.gateway ?? {};
  const proxies = trustedProxies.flatMap((proxy, index): Finding[] => {
    const path = `gateway.trustedProxies[${index}]`;
    const [address = "", bits] = proxy.split("/");
    const isAll = address === "*" || bits === "0" || address === "0.0.0.0" || address === "::";
    if (!isAll && bits === undefined) return [];
    return [
      {
        id: "exposure.trusted-proxies",
        weight: isAll ? "medium" : "low",
        what: `gateway.trustedProxies names ${isAll ? "everybody" : "a range"}: ${proxy}`,
        why: "a trusted proxy may say who a client is; this gateway takes single addresses only, so the entry does nothing, and a wider one would be a hole",
        where: at(ground, path),
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
            what: `gateway.allowedHosts holds ${host}`,
            why: "names are compared whole, so it lets nobody in; a wildcard would let pages in whose name is made to point at this machine",
            where: at(ground, `gateway.allowedHosts[${index}]`),
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
            why: "nothing in front of the gateway then checks the names it is told",
            where: at(ground, "gateway.auth.allowTailscale"),
            fix: unsetKey("gateway.auth.allowTailscale"),
          },
        ]
      : [];
  return [...proxies, ...hosts, ...byTailscale];
}

function remoteFindings(ground: Ground): Finding[] {
  const url = ground.loaded.config.gateway?.remote?.url ?? "";
  if (!/^(?:ws|http):\/\//.test(url) || /^\w+:\/\/(?:localhost|127\.|\[::1\])/.test(url)) return [];
  return [
    {
      id: "exposure.plain-remote",
      weight: "high",
      what: `the gateway at ${url} is spoken to without encryption`,
      why: "everybody on the way can read the token this command shows",
      where: at(ground, "gateway.remote.url"),
      fix: setKey("gateway.remote.url", url.replace(/^ws:/, "wss:").replace(/^http:/, "https:")),
    },
  ];
}
