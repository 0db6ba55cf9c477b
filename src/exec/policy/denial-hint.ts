// Names the next step after a denied command on the gateway host, so that it fits the rule that denied it. Pure.
import { literalPattern } from "./allowlist.ts";
import type { JudgeInput, Judgment } from "./decide.ts";
import { quoted } from "./preview.ts";

export function denialHint(judgment: Judgment, { policy }: JudgeInput, agent: string): string {
  // `ask` has no effect under deny.
  if (judgment.code === "exec.denied") return changeSecurity(policy.sources.security);
  const add = judgment.allowable.map(
    (path) => `openclaw approvals allowlist add ${quoted(literalPattern(path))} --agent ${quoted(agent)}`,
  );
  if (judgment.code === "exec.nobody-to-ask") {
    // With ask=always a listed program needs approval too.
    const useful = policy.ask === "always" ? [] : add;
    return [OPEN_DASHBOARD, ...(useful.length === 0 ? [] : [useful.join(" && ")])].join("; or ");
  }
  if (add.length > 0) return add.join(" && ");
  const approve =
    policy.ask === "off" ? "approve it each time: openclaw config set tools.exec.ask on-miss" : OPEN_DASHBOARD;
  return `no allowlist entry can allow this; ${approve}`;
}

const OPEN_DASHBOARD = "open the dashboard so that you can approve it (openclaw dashboard) and run it again";

function changeSecurity(source: string): string {
  return source === "tools.exec"
    ? "openclaw config set tools.exec.security allowlist"
    : `${source} decides (see openclaw approvals get --gateway); change it with: openclaw approvals set --gateway --file <file>`;
}
