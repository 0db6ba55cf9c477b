// `openclaw sessions export`: writes the whole transcript of a session as JSON lines; the gateway may be running.
import { createWriteStream, existsSync } from "node:fs";
import { once } from "node:events";
import type { Writable } from "node:stream";

import { openReadOnlyStore } from "../../app/read-only-store.ts";
import { OpenClawError } from "../../core/error.ts";
import { createMask, type Mask } from "../../base/mask.ts";
import { redactValues } from "../../base/redact-values.ts";
import { expandHome } from "../../base/paths.ts";
import { defaultAgentId, mainKeyOf, workspaceOf } from "../../config/agents.ts";
import { redactionPatterns } from "../../config/patterns.ts";
import { secretsIn } from "../../config/redact.ts";
import { requireSession } from "../../session/session.ts";
import type { SessionRecord, StoredEntry, TranscriptTable } from "../../store/store.ts";
import { defineCommand } from "../command.ts";
import { shortPath, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { requireStore } from "../store-file.ts";

const PAGE = 500;

export const command = defineCommand({
  details:
    "Reads the store of this machine, also while the gateway runs. Secrets of the config, of the environment and of command lines are masked, as in sessions history.",
  arguments: [{ name: "key", description: "The session by key or id, such as main." }],
  options: {
    out: { type: "string", value: "file.jsonl", description: "A new file that only you can read (default: stdout)." },
  },
  examples: [
    { line: "sessions export main --out main.jsonl", does: "into a file" },
    { line: "sessions export agent:support:main | jq .message.role", does: "into another program" },
  ],
  async run(io, { options, arguments: [key = ""] }) {
    const { config, env } = await requireConfig(io);
    const out = options.out === undefined ? undefined : expandHome(options.out, io.paths().home);
    if (out !== undefined && existsSync(out))
      throw new OpenClawError("file.exists", `${shortPath(out, io)} already exists`, {
        hint: "choose another name for --out",
      });
    const store = await openReadOnlyStore(requireStore(io));
    try {
      const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
      const record = await requireSession(store.sessions, key, context);
      const cwd = workspaceOf(config, record.agentId, io.paths());
      const target = out === undefined ? process.stdout : createWriteStream(out, { flags: "wx", mode: 0o600 });
      const mask = createMask(secretsIn(config, env), redactionPatterns(config));
      const lines = await writeLines(target, record, store.transcript, cwd, mask);
      if (out === undefined) return 0;
      target.end();
      await once(target, "finish");
      if (io.json) io.print(toJson({ ok: true, key: record.key, file: out, entries: lines }));
      else io.print(`wrote ${lines} entries of ${record.key} to ${shortPath(out, io)}`);
      return 0;
    } finally {
      await store.close();
    }
  },
});

async function writeLines(
  target: Writable,
  record: SessionRecord,
  transcript: TranscriptTable,
  cwd: string,
  mask: Mask,
): Promise<number> {
  const head = {
    type: "session",
    version: 3,
    id: record.sessionId,
    key: record.key,
    timestamp: iso(record.createdAt),
    cwd,
  };
  await put(target, head);
  let written = 0;
  let parentId: string | null = null;
  const total = await transcript.count(record.sessionId);
  for (let from = 1; from <= total; from += PAGE) {
    const before = Math.min(from + PAGE, total + 1);
    for (const entry of await transcript.tail(record.sessionId, before - from, before)) {
      await put(target, redactValues(lineOf(entry, parentId), mask));
      parentId = entry.id;
      written += 1;
    }
  }
  return written;
}

/** As recorded: a message under `message`, every other type with its own fields. */
function lineOf({ id, type, at, body }: StoredEntry, parentId: string | null): unknown {
  const fields = type === "message" ? { message: body } : typeof body === "object" && body !== null ? body : { body };
  return { ...fields, type, id, parentId, timestamp: iso(at) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

async function put(target: Writable, line: unknown): Promise<void> {
  if (!target.write(`${JSON.stringify(line)}\n`)) await once(target, "drain");
}
