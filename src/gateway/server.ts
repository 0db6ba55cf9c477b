// The gateway's one port: HTTP and WebSocket, opened last at the start and closed first at the end.
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";

import type { Agents } from "../agent/agent.ts";
import type { ModelBook } from "../model/model.ts";
import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { HelloOk } from "../protocol/connect.ts";
import { CLOSE, WIRE_LIMITS, type StateVersion } from "../protocol/frame.ts";
import { subjectOf } from "../tool/subject.ts";
import { cannotListen, type Binding } from "./bind.ts";
import { serveConnection, type ConnectionDeps } from "./connection.ts";
import { UNREAD_MS } from "./outbox.ts";
import type { GatewayContext } from "./context.ts";
import { createDispatch, type Served } from "./dispatch.ts";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";
import { announcePairRequest } from "./devices.ts";
import { judgeConnect } from "./handshake.ts";
import type { HealthReporter } from "./health.ts";
import { isAmong } from "./hub.ts";
import { eventFrame } from "./client.ts";
import { answerMalformed, endWith } from "./http/malformed.ts";
import { createPage } from "./http/page.ts";
import { createRoute } from "./http/route.ts";
import { peerOf, type PeerRules } from "./peer.ts";
import { sharedSecret, type SharedSecret } from "./secret.ts";
import { createThrottle, type Throttle } from "./throttle.ts";
import type { VoiceWake } from "./voice-wake.ts";
import type { ServeHook } from "./webhook/serve.ts";

/** Connections before their handshake; above this number new ones are rejected. */
const MAX_PENDING = 1024;
const DRAIN_MS = 5000;
/** How long a client may take to answer our close frame. */
const CLOSE_FRAME_MS = 500;

// `import "node:http"` would evaluate a lazy WebSocket client inside Node (30 ms, 15 MB); this does not.
const http = process.getBuiltinModule("node:http");

export interface Gateway {
  readonly port: number;
  readonly urls: readonly string[];
  /** Notifies clients, closes sockets, waits for requests in flight, frees the port. */
  close(reason: CloseReason): Promise<void>;
}

interface CloseReason {
  readonly text: string;
  readonly restartExpectedMs?: number;
}

export interface GatewayOptions {
  readonly context: GatewayContext;
  readonly agents: Agents;
  readonly models: ModelBook;
  readonly vitals: HealthReporter;
  readonly served: readonly Served[];
  readonly binding: Binding;
  readonly serveHook?: ServeHook;
  readonly voiceWake: VoiceWake;
  /** Called before each connection, so that a client that connects after a config change gets the new config. */
  readonly arriving?: () => void;
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { context, agents, models, binding, serveHook } = options;
  const { clock, log } = context;
  const throttle = createThrottle(clock);
  const secret = (): SharedSecret => sharedSecret(context.config(), context.env);
  const peerRules = (): PeerRules => rulesOf(context, binding);
  const servePage = createPage();
  const queue = createFairQueue(clock);
  const route = createRoute({ context, throttle, agents, models, servePage, serveHook, secret, peerRules, queue });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: WIRE_LIMITS.maxPayload,
    perMessageDeflate: false,
    autoPong: false,
  });
  const upgrade = createUpgrade(options, { sockets, throttle, secret, peerRules, queue });

  const servers: Server[] = [];
  let { port } = binding;
  for (const host of binding.hosts) {
    const server = createHttpServer(route, upgrade, log);
    const opened = await listen(server, host, port, servers.length === 0);
    if (!opened) continue;
    servers.push(server);
    port = (server.address() as AddressInfo).port;
  }
  return {
    port,
    urls: binding.hosts.slice(0, 1).map((host) => `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`),
    close: (reason) => closeGateway(context, servers, sockets, reason),
  };
}

interface UpgradeDeps {
  readonly sockets: WebSocketServer;
  readonly throttle: Throttle;
  readonly secret: () => SharedSecret;
  readonly peerRules: () => PeerRules;
  readonly queue: FairQueue;
}

/** Turns an HTTP upgrade into a connection, while not too many wait for their handshake. */
function createUpgrade(
  options: GatewayOptions,
  { sockets, throttle, secret, peerRules, queue }: UpgradeDeps,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const { context, served, arriving } = options;
  const { clock, log, devices } = context;
  const dispatch = createDispatch(served, { ...context, sessionOf: (word) => sessionNamed(word, context) });
  let pending = 0;
  const connection: ConnectionDeps = {
    clock,
    log,
    dispatch,
    queue,
    judge: (params, nonce, peer) => judgeConnect(params, nonce, peer, { devices, throttle, clock, secret, peerRules }),
    hello: createHello(context, options.vitals, dispatch.announced),
    ...membership(options),
    settled: () => void (pending -= 1),
  };
  return (request, socket, head) => {
    if (pending >= MAX_PENDING) {
      return endWith(socket, 503, "too many connections wait for their handshake; retry", { "retry-after": "5" });
    }
    pending += 1;
    arriving?.();
    const peer = peerOf(request, peerRules());
    // The upgrade response and the challenge are one write.
    socket.cork();
    process.nextTick(() => socket.uncork());
    sockets.handleUpgrade(request, socket, head, (ws) => serveConnection(ws, socket, peer, connection));
  };
}

/** The payload of hello-ok as JSON. The parts that are the same for every client are serialized once. */
function createHello(
  context: GatewayContext,
  vitals: HealthReporter,
  methods: readonly string[],
): ConnectionDeps["hello"] {
  const { clock, presence, presenceEvents, paths } = context;
  const features = JSON.stringify({ methods, events: announcedEvents } satisfies HelloOk["features"]);
  return (client, { issued }) => {
    const mayRead = isAmong(client, "operator.read");
    const server: HelloOk["server"] = { version: context.version, host: presence.host, connId: client.connId };
    const rest: Omit<HelloOk["snapshot"], "presence"> = {
      health: vitals.lastHealth(client),
      stateVersion: stateVersionOf(context),
      uptimeMs: Math.round(clock.now() - context.startedAt),
      ...(mayRead ? { configPath: paths.config, stateDir: paths.state } : undefined),
      sessionDefaults: vitals.sessionDefaults(),
    };
    const snapshot = `{"presence":${mayRead ? presenceEvents.list() : "[]"},${JSON.stringify(rest).slice(1)}`;
    const tail = JSON.stringify({ ...(issued === undefined ? {} : { auth: issued }), policy: WIRE_LIMITS }).slice(1);
    return `{"type":"hello-ok","protocol":3,"server":${JSON.stringify(server)},"features":${features},"snapshot":${snapshot},${tail}`;
  };
}

/** Clients that join, leave or are rejected: the hub, presence, and requests for approval. */
function membership({
  context,
  vitals,
  voiceWake,
}: GatewayOptions): Pick<ConnectionDeps, "joined" | "left" | "refused"> {
  const { hub, log, presence, presenceEvents } = context;
  return {
    joined(client, { opened }) {
      hub.add(client);
      if (opened !== undefined) {
        log.warn("a paired node offers more than was approved; it gets the rest when you approve it", {
          node: client.info.displayName ?? client.deviceId,
          added: opened.added,
          hint: `openclaw devices approve ${opened.requestId}`,
        });
        announcePairRequest(hub, opened);
      }
      if (presence.seen(client, "connect")) presenceEvents.changed();
      void vitals
        .health(client)
        .then((health) => hub.sendTo(client, "health", health, { stateVersion: stateVersionOf(context) }));
      // As recorded: without a number in the sequence.
      if (client.role === "node")
        client.send(eventFrame("voicewake.changed", JSON.stringify({ triggers: voiceWake.triggers() })));
      log.debug(`connected: ${client.info.id}/${client.info.mode} as ${client.role}`, {
        address: client.address,
        scopes: client.scopes,
      });
    },
    left(client) {
      hub.remove(client);
      if (presence.seen(client, "disconnect")) presenceEvents.changed();
    },
    refused({ error, opened }, peer) {
      log.warn(`connection refused: ${error.message}`, { address: peer.address, userAgent: peer.userAgent });
      if (opened !== undefined) announcePairRequest(hub, opened);
    },
  };
}

const stateVersionOf = ({ presence }: GatewayContext): StateVersion => ({ presence: presence.version(), health: 1 });

function createHttpServer(
  route: RequestListener,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  log: Log,
): Server {
  const server = http.createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      maxHeaderSize: 16_384,
      // The route rejects requests without a Host header; the rejection of Node has no message.
      requireHostHeader: false,
    },
    route,
  );
  server.on("upgrade", upgrade);
  // Ends connections that are idle or do not read; a client that waits for an answer stays connected.
  const answering = countAnswering(server);
  server.setTimeout(UNREAD_MS, (socket) => {
    if (socket.writableLength > 0 || !answering(socket)) socket.destroy();
  });
  server.on("clientError", (error, socket) => {
    log.debug("malformed HTTP request", { error });
    answerMalformed(error, socket);
  });
  return server;
}

async function closeGateway(
  { hub, presenceEvents }: GatewayContext,
  servers: readonly Server[],
  sockets: WebSocketServer,
  { text, restartExpectedMs }: CloseReason,
): Promise<void> {
  presenceEvents.close();
  hub.broadcast("shutdown", { reason: text, restartExpectedMs: restartExpectedMs ?? null }, { needs: "anybody" });
  const closed = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
  if (restartExpectedMs === undefined) hub.closeAll(1001, "gateway stopping");
  else hub.closeAll(CLOSE.restart, "service restart");
  // Keep-alive connections become idle one by one as their last responses are sent.
  const idle = setInterval(() => {
    for (const server of servers) server.closeIdleConnections();
  }, 20);
  const terminate = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
  }, CLOSE_FRAME_MS);
  const force = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, DRAIN_MS);
  await Promise.all(closed);
  clearInterval(idle);
  clearTimeout(terminate);
  clearTimeout(force);
  sockets.close();
}

const announcedEvents = [
  "connect.challenge",
  "agent",
  "chat",
  "presence",
  "tick",
  "talk.mode",
  "shutdown",
  "health",
  "heartbeat",
  "cron",
  "node.pair.requested",
  "node.pair.resolved",
  "node.invoke.request",
  "device.pair.requested",
  "device.pair.resolved",
  "voicewake.changed",
  "exec.approval.requested",
  "exec.approval.resolved",
];

function sessionNamed(word: string, context: GatewayContext): string | undefined {
  if (word === "") return undefined;
  try {
    return subjectOf({ sessionKey: word }, context.config()).session;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined; // the handler rejects it with a reason
    throw error;
  }
}

function rulesOf(context: GatewayContext, binding: Binding): PeerRules {
  const gateway = context.config().gateway;
  return {
    trustedProxies: gateway?.trustedProxies ?? [],
    boundTo: binding.hosts,
    allowedHosts: [...(gateway?.allowedHosts ?? []), ...binding.hosts],
    allowedOrigins: gateway?.controlUi?.allowedOrigins ?? [],
  };
}

/** Returns whether a connection still waits for a response. */
function countAnswering(server: Server): (socket: Socket) => boolean {
  const open = new WeakMap<Socket, number>();
  server.on("request", ({ socket }, response) => {
    open.set(socket, (open.get(socket) ?? 0) + 1);
    response.once("close", () => open.set(socket, (open.get(socket) ?? 1) - 1));
  });
  return (socket) => (open.get(socket) ?? 0) > 0;
}

/** The first address must open; the second is optional, for machines without IPv6. */
function listen(server: Server, host: string, port: number, required: boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      if (!required) return resolve(false);
      reject(cannotListen(cause, host, port));
    });
    server.listen({ host, port, exclusive: true }, () => resolve(true));
  });
}
