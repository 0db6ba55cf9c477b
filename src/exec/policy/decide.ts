// Decides run, ask or deny from an analysis, the rules in force and the safe bins.
import type { AnalyzedSegment, Analysis } from "./analysis.ts";
import { matchEntry } from "./allowlist.ts";
import type { Security } from "../route.ts";
import type { EffectivePolicy, EntryRef } from "./effective.ts";
import { isSafeBin } from "./safe-bins.ts";

export interface Judgment {
  readonly outcome: "run" | "ask" | "deny";
  readonly code: string;
  readonly reason: string;
  readonly matched: readonly EntryRef[];
  /** Paths or names of programs that no rule covers. */
  readonly unmatched: readonly string[];
  /** The programs to add to the allowlist so that the whole line may run; empty when entries cannot achieve that. */
  readonly allowable: readonly string[];
  /** Variables for the child when no person was asked: they disable pagers and editors, which could start other programs. */
  readonly env: Readonly<Record<string, string>>;
}

export interface JudgeInput {
  readonly analysis: Analysis;
  readonly policy: EffectivePolicy;
  readonly safeBins: readonly string[];
  readonly safeBinFolders?: readonly string[];
  readonly skillBins?: readonly string[];
  readonly home?: string;
}

/**
 * A pager or an editor would give a shell to the program or person that types into it. Git must not use a repository on this machine by path,
 * because the other side would run its own hooks and settings, to which git does not pass these variables.
 */
const unattendedEnvironment: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: "http:https:ssh:git",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  BAT_PAGER: "cat",
  EDITOR: "false",
  VISUAL: "false",
  GIT_EDITOR: "false",
  LESSSECURE: "1",
  GIT_TERMINAL_PROMPT: "0",
};

export function judge(input: JudgeInput): Judgment {
  const { security, ask } = input.policy;
  if (security === "deny") return plain("deny", "exec.denied", `security is deny (${input.policy.sources.security})`);
  if (security === "full") {
    if (ask === "always") return plain("ask", "exec.ask-always", `ask is always (${input.policy.sources.ask})`);
    return plain("run", "exec.full", `security is full (${input.policy.sources.security})`);
  }
  const cover = coverOf(input);
  if (ask === "always")
    return {
      outcome: "ask",
      code: "exec.ask-always",
      reason: `ask is always (${input.policy.sources.ask})`,
      ...cover.facts,
    };
  if (cover.covered)
    return {
      outcome: "run",
      code: "exec.allowed",
      reason: "every program is allowed",
      ...cover.facts,
      env: unattendedEnvironment,
    };
  return { outcome: ask === "on-miss" ? "ask" : "deny", code: cover.code, reason: cover.reason, ...cover.facts };
}

/** The decision when a question cannot reach a person. */
export function judgeUnanswerable(input: JudgeInput): Judgment {
  const fallback: Security = input.policy.askFallback;
  if (fallback === "deny") {
    const { unmatched, allowable } = coverOf(input).facts;
    return {
      ...plain(
        "deny",
        "exec.nobody-to-ask",
        "it needs approval, no client that can approve is connected, and askFallback is deny",
      ),
      unmatched,
      allowable,
    };
  }
  return judge({ ...input, policy: { ...input.policy, security: fallback, ask: "off" } });
}

/** Where the gateway's own files cannot be hidden from the command, a rule alone is not enough and a person decides. */
export function judgeUnguarded(judgment: Judgment, why: string, canAsk: boolean): Judgment {
  return {
    ...judgment,
    outcome: canAsk ? "ask" : "deny",
    code: "exec.unguarded",
    reason: `a rule allows it, but this machine cannot hide the gateway's own files from it: ${why}`,
    env: {},
  };
}

interface Cover {
  readonly covered: boolean;
  readonly code: string;
  readonly reason: string;
  readonly facts: Pick<Judgment, "matched" | "unmatched" | "allowable" | "env">;
}

function coverOf(input: JudgeInput): Cover {
  const { analysis } = input;
  const answers = analysis.segments.map((segment) => answerOf(segment, input));
  const matched = answers.flatMap((answer) => (answer.entry === undefined ? [] : [answer.entry]));
  const misses = answers.filter((answer) => !answer.covered);
  const unmatched = misses.map((miss) => miss.name);
  const canAllow = analysis.kind === "pipeline" && misses.every((miss) => miss.code === "exec.allowlist-miss");
  const facts = { matched, unmatched, allowable: canAllow ? [...new Set(unmatched)] : [], env: {} };
  if (analysis.kind === "other")
    return {
      covered: false,
      code: analysis.code,
      reason: `only a plain pipeline can be allowed by the allowlist: ${analysis.reason}`,
      facts,
    };
  const [first] = misses;
  if (first === undefined) return { covered: true, code: "exec.allowed", reason: "", facts };
  return { covered: false, code: first.code, reason: first.reason, facts };
}

interface Answer {
  readonly covered: boolean;
  readonly name: string;
  readonly entry?: EntryRef;
  readonly code: string;
  readonly reason: string;
}

/** Reasons that depend on arguments or files are given only for allowed programs; all others get the same reason. */
function answerOf(segment: AnalyzedSegment, input: JudgeInput): Answer {
  const name = segment.judged.path;
  const { concern } = segment;
  if (concern !== undefined && concern.code !== "exec.arguments") return { covered: false, name, ...concern };
  const entry = matchEntry(segment, input.analysis.cwd, input.policy.allowlist, input.home);
  const covered =
    entry !== undefined || isSafeBin(segment, input.safeBins, input.safeBinFolders) || isSkillBin(segment, input);
  if (!covered)
    return {
      covered,
      name,
      code: "exec.allowlist-miss",
      reason: `${name} is not on the allowlist with these arguments`,
    };
  if (concern !== undefined) return { covered: false, name, ...concern };
  return { covered, name, code: "exec.allowed", reason: "", ...(entry === undefined ? {} : { entry }) };
}

/** By name and found on PATH, because a path in the command line could lead anywhere. */
function isSkillBin({ judged }: AnalyzedSegment, { policy, skillBins }: JudgeInput): boolean {
  const { written } = judged;
  return policy.autoAllowSkills && !written.includes("/") && (skillBins ?? []).includes(written);
}

function plain(outcome: Judgment["outcome"], code: string, reason: string): Judgment {
  return { outcome, code, reason, matched: [], unmatched: [], allowable: [], env: {} };
}
