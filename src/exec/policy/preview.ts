// Builds the approval card: what would start, where and with which files, and what "always" would cover.
import type { ApprovalCard } from "../../protocol/approval.ts";
import { alwaysCovers } from "./always.ts";
import { visibleCard } from "../../approval/card.ts";
import { heldFiles } from "./hold-script.ts";
import type { Identity, Plan, Segment } from "./plan.ts";

export type PreviewCard = ApprovalCard;

/** Throws `approval.too-long` for a plan that cannot be shown completely. */
export function describePlan(plan: Plan): PreviewCard {
  const always = alwaysCovers(plan);
  const held = heldFiles(plan);
  const rows = [
    ...plan.segments.flatMap((segment) => programRows(segment, held)),
    ...(plan.shell === undefined ? [] : [{ label: "shell", value: plan.shell.path }]),
    { label: "folder", value: shownPath(plan.cwd.path, plan.cwd.real) },
    ...plan.files.map((file) => ({
      label: "script",
      value: `${shownPath(file.path, file.real)} sha256 ${shortHash(file.sha256)}${held.has(file) ? "" : notHeld}`,
    })),
    ...Object.entries(plan.env).map(([name, value]) => ({ label: "variable", value: `${name}=${value}` })),
    { label: "host", value: plan.host },
    { label: "agent", value: plan.agent },
    { label: "session", value: plan.session },
    ...(always.entries.length > 0 ? [] : [{ label: "always", value: `not possible: ${always.note}` }]),
  ];
  return visibleCard({
    title: plan.form === "pipeline" ? "Run a command" : "Run a command line in a shell",
    text: plan.form === "pipeline" ? plan.segments.map(shownSegment).join(" | ") : plan.command,
    rows: plan.form === "pipeline" ? [{ label: "written", value: plan.command }, ...rows] : rows,
    ...(always.entries.length > 0 ? { always: always.note } : {}),
  });
}

/** Quoted so that a shell reads it the same way; shown instead of what the model wrote. */
function shownSegment(segment: Segment): string {
  const assignments = Object.entries(segment.env).map(([name, value]) => `${name}=${quoted(value)}`);
  const streams = [
    ...(segment.input === "empty" ? ["</dev/null"] : []),
    ...(segment.output === "dropped" ? [">/dev/null"] : []),
    ...(segment.errors === "joined" ? ["2>&1"] : segment.errors === "dropped" ? ["2>/dev/null"] : []),
  ];
  return [...assignments, ...segment.argv.map(quoted), ...streams].join(" ");
}

export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Tells readers of the card that this file is opened by path. */
const notHeld = ", compared again at the start";

function programRows(segment: Segment, held: ReadonlySet<Identity>): { label: string; value: string }[] {
  const { program: outer, inner = [], shebang } = segment;
  const script = shebang === undefined ? undefined : (inner.at(-1) ?? outer);
  return [outer, ...inner, ...(shebang === undefined ? [] : [shebang.interpreter])].map((program) => {
    const hash = program.sha256 === undefined ? "" : ` sha256 ${shortHash(program.sha256)}`;
    const worth = program === script && !held.has(program) ? notHeld : "";
    return { label: "program", value: `${shownPath(program.path, program.real)}${hash}${worth}` };
  });
}

const shownPath = (path: string, real: string): string => (path === real ? path : `${path} (links to ${real})`);

const shortHash = (hash: string | undefined): string => (hash ?? "unknown").slice(0, 16);
