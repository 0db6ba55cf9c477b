// `openclaw sessions list`: lists the sessions of the gateway, newest first; without a gateway, those of the store.
import { existsSync } from "node:fs";

import { systemClock } from "../../base/clock.ts";
import { expandHome } from "../../base/paths.ts";
import { parseAgentId, type SessionKey } from "../../core/names.ts";
import type { SessionRow } from "../../protocol/methods/sessions.ts";
import { storeFileOf } from "../../store/store-files.ts";
import { isDown, withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { formatDuration } from "../../base/duration.ts";
import { shortPath, table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions, type WireFlags } from "../target.ts";

interface Request {
  readonly limit: number;
  readonly agentId?: string;
  readonly activeMinutes?: number;
  readonly search?: string;
  readonly spawnedBy?: string;
}

export const command = defineCommand({
  details: "If the gateway of this machine is not running, reads the store.",
  options: {
    agent: { type: "string", value: "id", description: "Only sessions of this agent." },
    active: { type: "string", value: "minutes", description: "Only sessions that changed within this many minutes." },
    search: { type: "string", value: "text", description: "Only sessions with this text in key, label or title." },
    "spawned-by": { type: "string", value: "key", description: "Only subagents of this session." },
    limit: { type: "string", value: "n", description: "Maximum number (default: 50)." },
    store: { type: "string", value: "file", description: "Read this store file instead of asking the gateway." },
    verbose: { type: "boolean", description: "Also show kind, id and the session that started each." },
    ...wireOptions,
  },
  examples: [
    { line: "sessions", does: "the last fifty" },
    { line: "sessions --agent support --active 60 --json", does: "sessions of the last hour, as JSON" },
    { line: "sessions --spawned-by agent:main:main --verbose", does: "the subagents of the main session" },
  ],
  async run(io, { options }) {
    const { agent, active, search, store } = options;
    const spawnedBy = options["spawned-by"];
    const activeMinutes = wholeNumber("active", active, { min: 1, max: 5_256_000 });
    const request: Request = {
      limit: wholeNumber("limit", options.limit, { min: 1, max: 1000 }) ?? 50,
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(activeMinutes === undefined ? {} : { activeMinutes }),
      ...(search === undefined ? {} : { search }),
      ...(spawnedBy === undefined ? {} : { spawnedBy }),
    };
    await requireConfigUnless(options.url !== undefined || store !== undefined, io);
    const list =
      store === undefined
        ? await fromGateway(io, options, request)
        : await fromFile(expandHome(store, io.paths().home), request);
    print(io, list, options.verbose === true);
    return 0;
  },
});

interface Listing {
  readonly path: string;
  readonly count: number;
  readonly sessions: readonly SessionRow[];
}

/** Falls back to the store of this machine while its gateway is down. */
async function fromGateway(io: Io, flags: WireFlags, request: Request): Promise<Listing> {
  const target = await targetOf(io, flags);
  try {
    return await withGateway(io, target, (client) => client.call("sessions.list", { ...request }));
  } catch (error) {
    if (!target.isLocal || !isDown(error)) throw error;
    const file = storeFileOf(io.paths().state);
    io.say(`The gateway is not running; these are the sessions in ${shortPath(file, io)}.`);
    return existsSync(file) ? fromFile(file, request) : { path: file, count: 0, sessions: [] };
  }
}

async function fromFile(file: string, request: Request): Promise<Listing> {
  const [{ openReadOnlyStore }, { toWireRow }] = await Promise.all([
    import("../../app/read-only-store.ts"),
    import("../../session/rows.ts"),
  ]);
  const { limit, agentId, activeMinutes, search, spawnedBy } = request;
  const opened = await openReadOnlyStore(file);
  try {
    const records = await opened.sessions.list({
      limit,
      ...(agentId === undefined ? {} : { agentId: parseAgentId(agentId) }),
      ...(activeMinutes === undefined ? {} : { activeSince: systemClock.now() - activeMinutes * 60_000 }),
      ...(search === undefined ? {} : { search }),
      ...(spawnedBy === undefined ? {} : { spawnedBy: spawnedBy.trim().toLowerCase() as SessionKey }),
    });
    const sessions = records.map((record) => toWireRow(record));
    return { path: file, count: sessions.length, sessions };
  } finally {
    await opened.close();
  }
}

function print(io: Io, list: Listing, isVerbose: boolean): void {
  if (io.json) io.print(toJson(list));
  else if (list.sessions.length === 0) io.print("No sessions yet.");
  else io.print(table(list.sessions, isVerbose ? [...shape, ...more] : shape, io).join("\n"));
}

const shape = [
  { title: "Session", text: ({ key }: SessionRow) => key },
  { title: "Name", text: ({ label, displayName }: SessionRow) => label ?? displayName ?? "" },
  { title: "Changed", text: ({ updatedAt }: SessionRow) => `${formatDuration(systemClock.now() - updatedAt)} ago` },
  { title: "Tokens", text: ({ totalTokens }: SessionRow) => String(totalTokens) },
  { title: "Model", text: ({ model }: SessionRow) => model ?? "" },
];

const more = [
  { title: "Kind", text: ({ kind }: SessionRow) => kind },
  { title: "Id", text: ({ sessionId }: SessionRow) => sessionId },
  { title: "Started by", text: ({ spawnedBy = "" }: SessionRow) => spawnedBy },
];
