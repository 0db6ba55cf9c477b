// Chooses where the browser of a request runs: sandbox, host or node. Pure; errors name what the caller can do instead.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { browserTargets, type BrowserTarget } from "../browser/control.ts";
import { browserError } from "../browser/errors.ts";
import type { Config } from "../config/schema/index.ts";
import type { NodeFacts } from "../exec/node-port.ts";
import type { SandboxBrowserSettings } from "../exec/sandbox-settings.ts";
import { nameOf, resolveNode } from "./resolve.ts";

export const BROWSER_PROXY = "browser.proxy";

/** Profile of the user's own browser on the gateway's machine: a call that names it never goes elsewhere by itself. */
const RELAY_PROFILE = "chrome";

export interface TargetRequest {
  readonly target?: string | undefined;
  readonly node?: string | undefined;
  readonly profile?: string | undefined;
}

export interface TargetContext<Node extends NodeFacts> {
  readonly config: Pick<Config, "gateway">;
  readonly nodes: readonly Node[];
  /** Rules of a sandboxed session; undefined for other sessions and the owner. */
  readonly sandbox: Pick<SandboxBrowserSettings, "enabled" | "allowHostControl"> | undefined;
}

export type BrowserPlace<Node> =
  | { readonly target: "sandbox" }
  | { readonly target: "host" }
  | { readonly target: "node"; readonly node: Node };

/** Throws `browser.bad-target`. */
export function chooseTarget<Node extends NodeFacts>(
  request: TargetRequest,
  context: TargetContext<Node>,
): BrowserPlace<Node> {
  const { sandbox } = context;
  const target = requestedTarget(request);
  switch (target) {
    case "sandbox":
      return inSandbox(sandbox);
    case "host":
      requireHostControl("browser of the host", sandbox);
      return { target };
    case "node":
      // Another machine of the user is outside of the sandbox, too.
      requireHostControl("browser of a node", sandbox);
      return { target, node: chosenNode(context, request.node) };
    case undefined: {
      if (request.profile === RELAY_PROFILE) {
        requireHostControl(`profile "${RELAY_PROFILE}", the user's own browser on the host`, sandbox);
        return { target: "host" };
      }
      if (sandbox !== undefined) return inSandbox(sandbox);
      const node = automaticNode(context);
      return node === undefined ? { target: "host" } : { target: "node", node };
    }
  }
}

/** False when `chooseTarget` does not look at the nodes. */
export function concernsNodes(
  request: TargetRequest,
  { gateway }: Pick<Config, "gateway">,
  sandboxed: boolean,
): boolean {
  const target = requestedTarget(request);
  if (target !== undefined) return target === "node";
  return !sandboxed && request.profile !== RELAY_PROFILE && (gateway?.nodes?.browser?.mode ?? "auto") === "auto";
}

function requestedTarget({ target, node }: TargetRequest): BrowserTarget | undefined {
  const given = wordIn(target);
  const known = browserTargets.find((one) => one === given);
  if (given !== undefined && known === undefined)
    throw badTarget(`there is no target "${visible(given, 40)}"`, `use one of: ${browserTargets.join(", ")}`);
  if (wordIn(node) === undefined) return known;
  if (known !== undefined && known !== "node")
    throw badTarget(`target=${known} and node contradict each other`, "leave out one of them");
  return "node";
}

type SandboxRules = TargetContext<NodeFacts>["sandbox"];

const KEYS = "agents.defaults.sandbox.browser";

function inSandbox(sandbox: SandboxRules): { readonly target: "sandbox" } {
  if (sandbox === undefined)
    throw badTarget(
      "target=sandbox needs a sandboxed session, and this one is not sandboxed",
      "leave out target, or use target=host",
    );
  if (sandbox.enabled) return { target: "sandbox" };
  const fix = `the owner can enable it: openclaw config set ${KEYS}.enabled true`;
  throw badTarget(
    `this session is sandboxed, and its sandbox has no browser (${KEYS}.enabled is false)`,
    sandbox.allowHostControl ? `use target=host; or ${fix}` : fix,
  );
}

function requireHostControl(what: string, sandbox: SandboxRules): void {
  if (sandbox === undefined || sandbox.allowHostControl) return;
  const fix = `the owner can allow it: openclaw config set ${KEYS}.allowHostControl true`;
  throw badTarget(
    `this session is sandboxed and may not use the ${what} (${KEYS}.allowHostControl is false)`,
    sandbox.enabled ? `use target=sandbox; or ${fix}` : fix,
  );
}

/** Connected nodes whose browser this gateway may use. */
function browserNodes<Node extends NodeFacts>({ config, nodes }: TargetContext<Node>): readonly Node[] {
  if (config.gateway?.nodes?.denyCommands?.includes(BROWSER_PROXY) === true) return [];
  return nodes.filter(({ connected, commands }) => connected && commands.includes(BROWSER_PROXY));
}

/** The node that serves a request that names no place: the pinned one, or the only one. */
function automaticNode<Node extends NodeFacts>(context: TargetContext<Node>): Node | undefined {
  const { mode = "auto", node } = context.config.gateway?.nodes?.browser ?? {};
  if (mode !== "auto") return undefined;
  const offering = browserNodes(context);
  const pinned = wordIn(node);
  if (pinned !== undefined) return matching(pinned, offering);
  return offering.length === 1 ? offering[0] : undefined;
}

/** The node that a request names, or the pinned one, or the only one. */
function chosenNode<Node extends NodeFacts>(context: TargetContext<Node>, wanted: string | undefined): Node {
  const { mode = "auto", node: pinned } = context.config.gateway?.nodes?.browser ?? {};
  if (mode === "off")
    throw badTarget(
      "browsers of nodes are turned off (gateway.nodes.browser.mode is off)",
      "use target=host; the owner can turn them on: openclaw config set gateway.nodes.browser.mode auto",
    );
  const offering = browserNodes(context);
  const name = wordIn(wanted) ?? wordIn(pinned);
  if (name !== undefined) return namedNode(name, context.nodes, offering);
  const [only, ...more] = offering;
  if (only === undefined)
    throw badTarget("no connected node offers a browser", "use target=host; or start a node with: openclaw node run");
  if (more.length === 0) return only;
  throw badTarget(
    `several nodes offer a browser: ${offering.map(nameOf).join(", ")}`,
    "name one with the node parameter; the owner can choose one: openclaw config set gateway.nodes.browser.node <id>",
  );
}

function namedNode<Node extends NodeFacts>(name: string, nodes: readonly Node[], offering: readonly Node[]): Node {
  const node = resolved(name, nodes);
  if (offering.includes(node)) return node;
  const others = offering.length === 0 ? "" : `use ${offering.map(nameOf).join(" or ")}; or `;
  throw badTarget(
    `node ${nameOf(node)} ${node.connected ? "offers no browser" : "is not connected"}`,
    `${others}on that machine check browser.enabled and nodeHost.browserProxy.enabled, then: openclaw node run`,
  );
}

function resolved<Node extends NodeFacts>(name: string, nodes: readonly Node[]): Node {
  try {
    return resolveNode(name, nodes);
  } catch (error) {
    if (error instanceof OpenClawError)
      throw badTarget(error.message, error.hint ?? "openclaw gateway call node.list lists them");
    throw error;
  }
}

/** An absent or ambiguous pin leaves the request on this machine. */
function matching<Node extends NodeFacts>(reference: string, nodes: readonly Node[]): Node | undefined {
  try {
    return resolveNode(reference, nodes);
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

const wordIn = (text: string | undefined): string | undefined => (text?.trim() === "" ? undefined : text?.trim());

const badTarget = (message: string, hint: string): OpenClawError =>
  browserError("browser.bad-target", message, { hint });
