// `openclaw node run`: this machine as a headless node of a gateway, in the foreground.
import { OpenClawError } from "../../core/error.ts";
import type { NodeState } from "../../node/host/state.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";

export const command = defineCommand({
  details:
    "Which commands may run is decided here, by the exec-approvals.json of this machine (openclaw approvals). The first time, the gateway's owner must let it in; it waits for that. A lost connection is taken up again.",
  options: {
    host: { type: "string", value: "host", description: "Where the gateway is; else as last time, 127.0.0.1." },
    port: { type: "string", value: "port", description: "Its port; else as last time, 18789." },
    tls: {
      type: "boolean",
      description: "Speak TLS (wss); kept for this host, with its fingerprint, until node.json is removed.",
    },
    "tls-fingerprint": {
      type: "string",
      value: "sha256",
      description: "Trust only the certificate with this SHA-256, whoever signed it. Needs --tls.",
    },
    "node-id": {
      type: "string",
      value: "id",
      description: "Set a new name for this installation and forget its token.",
    },
    "display-name": {
      type: "string",
      value: "name",
      description: "Its name for people; else as last time, the host's.",
    },
    token: { type: "string", value: "token", description: "The gateway's token; else OPENCLAW_GATEWAY_TOKEN." },
    password: { type: "string", value: "password", description: "Its password; else OPENCLAW_GATEWAY_PASSWORD." },
  },
  examples: [
    { line: "node run --host 192.168.1.20", does: "a node of the gateway on that machine" },
    { line: "node run --display-name lab-mini", does: "one beside the gateway, under a name" },
    {
      line: "node run --host gw.example.net --port 443 --tls --tls-fingerprint ab:cd:…",
      does: "through TLS, with a certificate nobody else vouches for",
    },
  ],
  exits: "0 stopped by a signal, 1 could not start or was refused for good, 2 wrong usage",
  async run(io, { options }) {
    if (io.env["OPENCLAW_NODE_EXEC_HOST"] === "app") throw noApp();
    if (process.platform === "win32")
      throw new OpenClawError("node-host.platform", "the headless node does not run on Windows", {
        hint: "run it inside WSL",
      });
    const [{ openNodeHost }, { readNodeState, urlOf }, { openIdentity }, { openWire }, { openLog }, { createMask }] =
      await Promise.all([
        import("../../app/node-host.ts"),
        import("../../node/host/state.ts"),
        import("../identity.ts"),
        import("../wire.ts"),
        import("../../base/log.ts"),
        import("../../base/mask.ts"),
      ]);
    const paths = io.paths();
    const gateway = placeOf(options, readNodeState(paths.state)?.gateway);
    const secret = await secretFor(io, options, gateway);
    const mask = createMask([secret.token, secret.password].filter((word) => word !== undefined));
    const log = openLog({ level: "silent", consoleLevel: "info", consoleStyle: "pretty", mask }).child("node");
    if (!gateway.tls && !isLoopback(gateway.host))
      log.warn("the way to the gateway is not encrypted: use --tls, a tunnel or a private network");
    const target = {
      url: urlOf(gateway),
      token: undefined,
      password: undefined,
      from: "--host",
      isLocal: false,
      timeoutMs: 15_000,
      ...(gateway.tlsFingerprint === undefined ? {} : { tlsFingerprint: gateway.tlsFingerprint }),
    };
    const stop = new AbortController();
    const { onInterrupt } = await import("../interrupt.ts");
    const release = onInterrupt(() => stop.abort());
    const onPipe = (): void => {};
    process.stderr.on("error", onPipe);
    try {
      const { "node-id": nodeId, "display-name": displayName } = options;
      const requests = { gateway, nodeId: nodeId?.trim() || undefined, displayName: displayName?.trim() || undefined };
      const parts = { paths, env: io.env, log, requests, secret, identity: () => openIdentity(paths.state) };
      await openNodeHost({ ...parts, dial: () => openWire(target) }, stop.signal);
      log.info("stopped");
      return 0;
    } finally {
      release();
      process.stderr.off("error", onPipe);
    }
  },
});

type Flags = { readonly [Name in "host" | "port" | "tls-fingerprint"]?: string } & { readonly tls?: boolean };

const DEFAULT_PORT = 18_789;

/** What the flags leave out is as last time; another host begins without TLS unless it is asked for. */
function placeOf(flags: Flags, last: NodeState["gateway"] | undefined): NodeState["gateway"] {
  const port = wholeNumber("port", flags.port, { min: 1, max: 65_535 });
  const written = flags["tls-fingerprint"];
  if (written !== undefined && flags.tls !== true) throw wrong("--tls-fingerprint needs --tls beside it");
  const pin = written?.replaceAll(/[:\s]/g, "").toLowerCase();
  if (pin !== undefined && !/^[0-9a-f]{64}$/.test(pin))
    throw wrong("--tls-fingerprint is the SHA-256 of a certificate: 64 hexadecimal digits, with or without colons");
  const isNamed = flags.host !== undefined || port !== undefined || flags.tls !== undefined;
  if (!isNamed && last !== undefined) return last;
  const host = (flags.host ?? last?.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  if (!/^[\p{L}\p{N}._:-]+$/u.test(host)) throw wrong("--host is a name or an address, without scheme or path");
  // The same machine by another port is not trusted with less: TLS and its pin hold until another host is named.
  const before = last?.host === host ? last : undefined;
  const kept = pin ?? before?.tlsFingerprint;
  return {
    host,
    port: port ?? last?.port ?? DEFAULT_PORT,
    tls: flags.tls ?? before?.tls ?? false,
    ...(kept === undefined ? {} : { tlsFingerprint: kept }),
  };
}

interface Secret {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

/** Flag, environment, then the config where it is about this very gateway: a secret of one must not reach another (docs/decisions/0020-no-inherited-gateway-secret.md). */
async function secretFor(io: Io, flags: Secret, gateway: NodeState["gateway"]): Promise<Secret> {
  const { host, port } = gateway;
  if (flags.token !== undefined) return { token: flags.token };
  if (flags.password !== undefined) return { password: flags.password };
  const { glanceAtConfig } = await import("../settings.ts");
  const glance = await glanceAtConfig(io);
  const { localPort, localSecret } = await import("../target.ts");
  const isOwn = isLoopback(host) && port === localPort(io, glance) && glance.text("gateway.mode") !== "remote";
  if (isOwn) return localSecret(glance);
  const token = glance.env["OPENCLAW_GATEWAY_TOKEN"]?.trim();
  const password = glance.env["OPENCLAW_GATEWAY_PASSWORD"]?.trim();
  if (token) return { token };
  if (password) return { password };
  const remote = glance.text("gateway.remote.url");
  const { isSameGateway } = await import("../../node/host/state.ts");
  if (remote === undefined || !isSameGateway(remote, gateway)) return {};
  return { token: glance.text("gateway.remote.token"), password: glance.text("gateway.remote.password") };
}

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host);

const wrong = (message: string): UsageError => new UsageError(message, ["node", "run"]);

/** Asked for by name and not there: running here instead would not be what was asked. */
function noApp(): OpenClawError {
  return new OpenClawError(
    "node-host.no-app",
    "OPENCLAW_NODE_EXEC_HOST=app wants the companion app, which this build has not",
    {
      hint: "unset OPENCLAW_NODE_EXEC_HOST",
    },
  );
}
