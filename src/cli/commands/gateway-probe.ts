// `openclaw gateway probe`: tries every configured gateway.
import { defineCommand } from "../command.ts";
import { probeTarget } from "../gateway-state.ts";
import type { Io } from "../io.ts";
import { isListening } from "../listening.ts";
import { oneLine, table, toJson } from "../print.ts";
import { readUncheckedConfig } from "../settings.ts";
import { everyTarget, wireOptions, type Target } from "../target.ts";

interface Tried {
  readonly url: string;
  readonly from: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly version?: string;
  readonly error?: string;
  readonly hint?: string;
}

export const command = defineCommand({
  options: wireOptions,
  examples: [
    { line: "gateway probe", does: "this machine and gateway.remote.url" },
    { line: "gateway probe --url ws://10.0.0.5:18789 --token abc", does: "one more address" },
  ],
  exits: "0 at least one answers, 1 no gateway answers, 2 wrong usage",
  async run(io, { options }) {
    const targets = everyTarget(io, options, await readUncheckedConfig(io));
    const tried = await Promise.all(targets.map((target) => tryTarget(io, target)));
    const ok = tried.some((target) => target.ok);
    if (io.json) io.print(toJson({ ok, targets: tried }));
    else io.print(table(tried, shape(io), io).join("\n"));
    return ok ? 0 : 1;
  },
});

async function tryTarget(io: Io, target: Target): Promise<Tried> {
  const { url, from } = target;
  if (!(await isListening(target))) return { url, from, ok: false, error: "no program listens at this address" };
  const probe = await probeTarget(io, target, { health: {} });
  if (probe.ok) return { url, from, ok: true, ms: probe.ms, version: probe.hello.server.version };
  return {
    url,
    from,
    ok: false,
    error: probe.error?.message ?? "no response",
    ...(probe.error?.hint === undefined ? {} : { hint: probe.error.hint }),
  };
}

function shape({ paint }: Io) {
  return [
    { title: "Gateway", text: ({ url }: Tried) => url },
    { title: "From", text: ({ from }: Tried) => from },
    {
      title: "Answer",
      text: ({ ok, ms = 0, version = "", error = "", hint }: Tried) =>
        ok
          ? `ok, version ${oneLine(version)}, ${ms} ms`
          : `${oneLine(error)}${hint === undefined ? "" : ` (fix: ${oneLine(hint)})`}`,
      paint: (cell: string, { ok }: Tried) => (ok ? paint.good(cell) : paint.warn(cell)),
    },
  ];
}
