// A scripted node for tests: connects as a node host would, answers what its script says, keeps what it was asked.
import { newIdentity, Wire, type ConnectPlan, type Frame, type Identity, type TestGateway } from "./gateway.ts";

export interface Asked {
  readonly id: string;
  readonly nodeId: string;
  readonly command: string;
  readonly params: Record<string, unknown> | null;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
}

/** What a node answers to one request: a payload, an error, or nothing at all. */
export type NodeReply =
  | { readonly payload: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }
  | "silent";

export interface ScriptedNode {
  readonly id: string;
  readonly wire: Wire;
  readonly asked: Asked[];
  /** Replaces the script. */
  script(reply: (asked: Asked) => NodeReply | Promise<NodeReply>): void;
  /** Sends `node.event` with the payload as text, as node hosts do. */
  report(event: string, payload: unknown): Promise<Frame>;
  end(): void;
}

export interface NodePlan {
  readonly identity?: Identity;
  readonly name?: string;
  readonly platform?: string;
  readonly commands?: readonly string[];
  readonly connect?: Partial<ConnectPlan>;
  readonly socket?: ConstructorParameters<typeof Wire>[1];
}

export const hostCommands = ["system.run", "system.which", "system.execApprovals.get", "system.execApprovals.set"];

export const ranFine = (stdout: string): NodeReply => ({
  payload: { exitCode: 0, timedOut: false, success: true, stdout, stderr: "", error: null },
});

/** Throws when the gateway does not let it in. */
export async function scriptedNode(gateway: TestGateway, plan: NodePlan = {}): Promise<ScriptedNode> {
  const identity = plan.identity ?? newIdentity();
  const wire = new Wire(gateway.port, plan.socket ?? {});
  const asked: Asked[] = [];
  let reply: (asked: Asked) => NodeReply | Promise<NodeReply> = () => "silent";
  const answer = async (request: Asked): Promise<void> => {
    asked.push(request);
    const said = await reply(request);
    if (said === "silent") return;
    const { id, nodeId } = request;
    await wire.request(
      "node.invoke.result",
      "error" in said
        ? { id, nodeId, ok: false, error: said.error }
        : { id, nodeId, ok: true, payloadJSON: JSON.stringify(said.payload) },
    );
  };
  wire.socket.on("message", (bytes: Buffer) => {
    const frame = JSON.parse(bytes.toString()) as Frame;
    if (frame.event !== "node.invoke.request") return;
    const { paramsJSON, ...rest } = frame.payload as Asked & { readonly paramsJSON: string | null };
    void answer({ ...rest, params: paramsJSON === null ? null : (JSON.parse(paramsJSON) as Record<string, unknown>) });
  });
  const hello = await wire.connect({
    token: gateway.token,
    identity,
    role: "node",
    scopes: [],
    client: {
      id: "node-host",
      displayName: plan.name ?? "test-node",
      version: "2026.2.9",
      platform: plan.platform ?? "linux",
      mode: "node",
    },
    extra: { caps: ["system"], commands: plan.commands ?? hostCommands, pathEnv: "/usr/bin:/bin" },
    ...plan.connect,
  });
  if (hello.ok !== true) throw new Error(`refused: ${JSON.stringify(hello)}`);
  return {
    id: identity.id,
    wire,
    asked,
    script(next) {
      reply = next;
    },
    report: (event, payload) => wire.request("node.event", { event, payloadJSON: JSON.stringify(payload) }),
    end: () => wire.end(),
  };
}
