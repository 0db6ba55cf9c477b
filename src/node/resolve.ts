// Resolves a reference to a node: id, name, address or a prefix of the id. Pure.
import { visible } from "../core/visible.ts";
import { ambiguousNode, unknownNode } from "../exec/node-error.ts";
import type { NodeFacts } from "../exec/node-port.ts";

/** A shorter prefix could match another node by accident. */
const MIN_PREFIX = 6;

/** The first kind of match with a result decides; two results of the same kind are an error. */
export function resolveNode<Node extends NodeFacts>(reference: string, nodes: readonly Node[]): Node {
  const word = reference.trim();
  const name = plainName(word);
  const kinds: readonly ((node: Node) => boolean)[] = [
    ({ nodeId }) => nodeId === word,
    ({ displayName }) => name !== "" && plainName(displayName ?? "") === name,
    ({ remoteIp }) => word !== "" && remoteIp === word,
    ({ nodeId }) => word.length >= MIN_PREFIX && nodeId.startsWith(word.toLowerCase()),
  ];
  for (const fits of kinds) {
    const [first, ...more] = nodes.filter(fits);
    if (first === undefined) continue;
    if (more.length > 0) throw ambiguousNode(word, [first, ...more].map(nameOf));
    return first;
  }
  throw unknownNode(word, nodes.map(nameOf));
}

/** `Ada's Mac Mini` and `adas-mac-mini` are the same name. */
function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

/** Made safe to show, because a node chooses its own name. */
export function nameOf({ displayName, nodeId }: Pick<NodeFacts, "displayName" | "nodeId">): string {
  const short = nodeId.slice(0, 12);
  return displayName === undefined ? short : `${visible(displayName, 60)} (${short})`;
}
