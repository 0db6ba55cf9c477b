// `openclaw node run`: runs this machine as a headless node of a gateway, in the foreground.
import { OpenClawError } from "../../core/error.ts";
import type { NodeState } from "../../node/host/state.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";

export const command = defineCommand({
  details:
    "The exec-approvals.json of this machine decides which commands may run (openclaw approvals). The first time, the gateway's owner must approve the node; it waits for that. After a lost connection it reconnects.",
  options: {
    host: {
      type: "string",
      value: "host",
      description: "Host of the gateway (default: as last time, else 127.0.0.1).",
    },
    port: { type: "string", value: "port", description: "Port of the gateway (default: as last time, else 18789)." },
    tls: {
      type: "boolean",
      description: "Use TLS (wss); remembered for this host, with its fingerprint, until node.json is removed.",
    },
    "tls-fingerprint": {
      type: "string",
      value: "sha256",
      description: "Trust only the certificate with this SHA-256, whoever signed it. Requires --tls.",
    },
    "node-id": {
      type: "string",
      value: "id",
      description: "Set a new name for this installation and forget its token.",
    },
    "display-name": {
      type: "string",
      value: "name",
      description: "Display name of the node (default: as last time, else the host name).",
    },
    token: { type: "string", value: "token", description: "Token of the gateway (default: OPENCLAW_GATEWAY_TOKEN)." },
    password: {
      type: "string",
      value: "password",
      description: "Password of the gateway (default: OPENCLAW_GATEWAY_PASSWORD).",
    },
  },
  examples: [
    { line: "node run --host 192.168.1.20", does: "a node of the gateway on that machine" },
    { line: "node run --display-name lab-mini", does: "on the gateway's own machine, with a name" },
    {
      line: "node run --host gw.example.net --port 443 --tls --tls-fingerprint ab:cd:…",
      does: "over TLS, with a self-signed certificate",
    },
  ],
  exits: "0 stopped by a signal, 1 could not start or was rejected permanently, 2 wrong usage",
  async run(io, { options }) {
    if (io.env["OPENCLAW_NODE_EXEC_HOST"] === "app") throw noApp();
    if (process.platform === "win32")
      throw new OpenClawError("node-host.platform", "the headless node does not run on Windows", {
        hint: "run it inside WSL",
      });
    const [{ openNodeHost }, { readNodeState, urlOf }, { openIdentity }, { openWire }, { openLog }, { createMask }] =
      await Promise.all([
        import("../../node/host/open.ts"),
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
      log.warn("the connection to the gateway is not encrypted: use --tls, a tunnel or a private network");
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

/** Flags that are not given keep their last value; another host starts without TLS unless it is requested. */
function placeOf(flags: Flags, last: NodeState["gateway"] | undefined): NodeState["gateway"] {
  const port = wholeNumber("port", flags.port, { min: 1, max: 65_535 });
  const written = flags["tls-fingerprint"];
  if (written !== undefined && flags.tls !== true) throw wrong("--tls-fingerprint requires --tls");
  const pin = written?.replaceAll(/[:\s]/g, "").toLowerCase();
  if (pin !== undefined && !/^[0-9a-f]{64}$/.test(pin))
    throw wrong(
      "--tls-fingerprint must be the SHA-256 of a certificate: 64 hexadecimal digits, with or without colons",
    );
  const isNamed = flags.host !== undefined || port !== undefined || flags.tls !== undefined;
  if (!isNamed && last !== undefined) return last;
  const host = (flags.host ?? last?.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  if (!/^[\p{L}\p{N}._:-]+$/u.test(host)) throw wrong("--host must be a name or an address, without scheme or path");
  // Another port of the same host is trusted no less: TLS and its pin apply until another host is named.
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
  const { readUncheckedConfig } = await import("../settings.ts");
  const unchecked = await readUncheckedConfig(io);
  const { localPort, localSecret } = await import("../target.ts");
  const isOwn = isLoopback(host) && port === localPort(io, unchecked) && unchecked.text("gateway.mode") !== "remote";
  if (isOwn) return localSecret(unchecked);
  const token = unchecked.env["OPENCLAW_GATEWAY_TOKEN"]?.trim();
  const password = unchecked.env["OPENCLAW_GATEWAY_PASSWORD"]?.trim();
  if (token) return { token };
  if (password) return { password };
  const remote = unchecked.text("gateway.remote.url");
  const { isSameGateway } = await import("../../node/host/state.ts");
  if (remote === undefined || !isSameGateway(remote, gateway)) return {};
  return { token: unchecked.text("gateway.remote.token"), password: unchecked.text("gateway.remote.password") };
}

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host);

const wrong = (message: string): UsageError => new UsageError(message, ["node", "run"]);

/** The companion app was requested explicitly; running the command here instead would be wrong. */
function noApp(): OpenClawError {
  return new OpenClawError(
    "node-host.no-app",
    "OPENCLAW_NODE_EXEC_HOST=app requires the companion app, which this build does not have",
    {
      hint: "unset OPENCLAW_NODE_EXEC_HOST",
    },
  );
}
