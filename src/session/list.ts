// Lists the sessions that a viewer may see, newest first, reading no more rows than needed.
import { mainSessionKey, sessionKindOf, type AgentId, type SessionKind } from "../core/names.ts";
import { agentIds, mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { SessionQuery, SessionRecord, SessionTable } from "../store/store.ts";
import { mayCross, maySee, seesOnlySpawned, type Viewer } from "./visibility.ts";

export interface ListRequest {
  readonly kinds?: readonly SessionKind[] | undefined;
  readonly activeSince?: number | undefined;
  readonly limit: number;
}

/** A query can also find main sessions and the reserved keys, which are filtered out. */
const SPARE = 4;
const PAGE = 200;

export async function visibleSessions(
  table: SessionTable,
  viewer: Viewer,
  request: ListRequest,
  config: Config,
): Promise<SessionRecord[]> {
  const mainKey = mainKeyOf(config);
  const isWanted = (record: SessionRecord): boolean =>
    maySee(viewer, record, config) &&
    (request.activeSince === undefined || record.updatedAt >= request.activeSince) &&
    (request.kinds === undefined || request.kinds.includes(sessionKindOf(record.key, mainKey)));
  const found = seesOnlySpawned(viewer, config)
    ? await ownAndSpawned(table, viewer, request, isWanted)
    : await ofAgents(table, visibleAgents(viewer.agent, config), request, mainKey);
  const unique = new Map(found.filter(isWanted).map((record) => [record.key, record]));
  return [...unique.values()].sort(newestFirst).slice(0, request.limit);
}

async function ownAndSpawned(
  table: SessionTable,
  { session }: Viewer,
  { activeSince, limit }: ListRequest,
  isWanted: (record: SessionRecord) => boolean,
): Promise<SessionRecord[]> {
  const own = await table.get(session);
  const found = own === undefined ? [] : [own];
  const query: SessionQuery = {
    spawnedBy: session,
    limit: PAGE,
    ...(activeSince === undefined ? {} : { activeSince }),
  };
  for (let page = await table.list(query); page.length > 0;) {
    found.push(...page.filter(isWanted));
    const last = page.at(-1);
    if (found.length > limit || page.length < PAGE || last === undefined) break;
    page = await table.list({ ...query, before: last });
  }
  return found;
}

/** One indexed query for each agent and kind. */
async function ofAgents(
  table: SessionTable,
  agents: readonly AgentId[],
  { kinds, activeSince, limit }: ListRequest,
  mainKey: string,
): Promise<SessionRecord[]> {
  const shared = { limit: limit + SPARE, ...(activeSince === undefined ? {} : { activeSince }) };
  const list = (more: SessionQuery): Promise<SessionRecord[]> => table.list({ ...shared, ...more });
  const asked = agents.flatMap((agentId): Promise<SessionRecord[]>[] => {
    if (kinds === undefined) return [list({ agentId })];
    const keyKinds = [...new Set(kinds)].filter((kind) => kind !== "main");
    return [
      ...keyKinds.map((keyKind) => list({ agentId, keyKind })),
      ...(kinds.includes("main") ? [mainOf(table, agentId, mainKey)] : []),
    ];
  });
  return (await Promise.all(asked)).flat();
}

async function mainOf(table: SessionTable, agentId: AgentId, mainKey: string): Promise<SessionRecord[]> {
  const keys = new Set([mainSessionKey(agentId, mainKey), mainSessionKey(agentId)]);
  const records = await Promise.all([...keys].map((key) => table.get(key)));
  return records.filter((record) => record !== undefined);
}

function visibleAgents(own: AgentId, config: Config): AgentId[] {
  return [own, ...agentIds(config).filter((id) => id !== own && mayCross(own, id, config))];
}

function newestFirst(one: SessionRecord, other: SessionRecord): number {
  return other.updatedAt - one.updatedAt || (one.key < other.key ? -1 : 1);
}
