// The first request of a connection: who is calling, as what, and how it proves it.
import { checker, Type, type Static } from "../core/schema.ts";
import type { StateVersion, WIRE_LIMITS } from "./frame.ts";
import type { Health, PresenceEntry } from "./methods/system.ts";
import type { Role } from "./scope.ts";

const clientIds = [
  "cli",
  "webchat",
  "webchat-ui",
  "openclaw-control-ui",
  "gateway-client",
  "openclaw-macos",
  "openclaw-ios",
  "openclaw-android",
  "node-host",
  "test",
  "fingerprint",
  "openclaw-probe",
] as const;
const clientModes = ["webchat", "cli", "ui", "backend", "node", "probe", "test"] as const;

const nonEmpty = Type.String({ minLength: 1 });

const ConnectParamsSchema = Type.Object(
  {
    minProtocol: Type.Integer({ minimum: 1 }),
    maxProtocol: Type.Integer({ minimum: 1 }),
    client: Type.Object(
      {
        id: Type.Unsafe<(typeof clientIds)[number]>(Type.Union(clientIds.map((id) => Type.Literal(id)))),
        displayName: Type.Optional(nonEmpty),
        version: nonEmpty,
        platform: nonEmpty,
        deviceFamily: Type.Optional(nonEmpty),
        modelIdentifier: Type.Optional(nonEmpty),
        mode: Type.Unsafe<(typeof clientModes)[number]>(Type.Union(clientModes.map((mode) => Type.Literal(mode)))),
        instanceId: Type.Optional(nonEmpty),
      },
      { additionalProperties: false },
    ),
    role: Type.Optional(nonEmpty),
    scopes: Type.Optional(Type.Array(nonEmpty, { maxItems: 64 })),
    caps: Type.Optional(Type.Array(nonEmpty, { maxItems: 64 })),
    commands: Type.Optional(Type.Array(nonEmpty, { maxItems: 512 })),
    permissions: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
    pathEnv: Type.Optional(Type.String()),
    auth: Type.Optional(
      Type.Object(
        { token: Type.Optional(Type.String()), password: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
    locale: Type.Optional(Type.String()),
    userAgent: Type.Optional(Type.String()),
    device: Type.Optional(
      Type.Object(
        {
          id: nonEmpty,
          publicKey: nonEmpty,
          signature: nonEmpty,
          signedAt: Type.Integer({ minimum: 0 }),
          nonce: Type.Optional(nonEmpty),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export type ConnectParams = Static<typeof ConnectParamsSchema>;
export const connectParams = checker(ConnectParamsSchema);

/** Client ids that only a browser has; they must come with an Origin. */
const browserClients: ReadonlySet<string> = new Set(["openclaw-control-ui", "webchat", "webchat-ui"]);
export const isBrowserClient = (id: string): boolean => browserClients.has(id);

/** The answer to `connect`. */
export interface HelloOk {
  readonly type: "hello-ok";
  readonly protocol: number;
  readonly server: { readonly version: string; readonly host: string; readonly connId: string };
  readonly features: { readonly methods: readonly string[]; readonly events: readonly string[] };
  readonly snapshot: {
    readonly presence: readonly PresenceEntry[];
    readonly health: Health;
    readonly stateVersion: StateVersion;
    readonly uptimeMs: number;
    /** For clients with `operator.read`. */
    readonly configPath?: string;
    readonly stateDir?: string;
    readonly sessionDefaults: SessionDefaults;
  };
  readonly auth?: IssuedToken;
  readonly policy: typeof WIRE_LIMITS;
}

export interface SessionDefaults {
  readonly defaultAgentId: string;
  readonly mainKey: string;
  readonly mainSessionKey: string;
  readonly scope: string;
}

export interface IssuedToken {
  readonly deviceToken: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly issuedAtMs: number;
}
