// Run, ask or deny: the decision table over an analysis, the rules in force and the programs trusted with a stream.
import type { AnalysedSegment, Analysis } from "./analysis.ts";
import { matchEntry } from "./allowlist.ts";
import type { Security } from "../route.ts";
import type { EffectivePolicy, EntryRef } from "./effective.ts";
import { isSafeBin } from "./safe-bins.ts";

export interface Judgement {
  readonly outcome: "run" | "ask" | "deny";
  readonly code: string;
  readonly reason: string;
  readonly matched: readonly EntryRef[];
  /** Programs that no rule covers, by path or name. */
  readonly unmatched: readonly string[];
  /** What the child's environment gets on top when no person was asked: no pager or editor to escape from. */
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
 * Programs that open a pager or an editor would hand a terminal to whoever types into it. Git reaches no repository on this
 * machine by a path, however it was told to: the other side would run its own hooks and settings, and git gives it none of ours.
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

export function judge(input: JudgeInput): Judgement {
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

/** What holds when a question reaches nobody. */
export function judgeUnanswerable(input: JudgeInput): Judgement {
  const fallback: Security = input.policy.askFallback;
  if (fallback === "deny") {
    const { unmatched } = coverOf(input).facts;
    return {
      ...plain(
        "deny",
        "exec.nobody-to-ask",
        "it needs approval, no client that can approve is connected, and askFallback is deny",
      ),
      unmatched,
    };
  }
  return judge({ ...input, policy: { ...input.policy, security: fallback, ask: "off" } });
}

/** A rule alone is not enough where the gateway's own files cannot be hidden from the command: a person decides then. */
export function judgeUnguarded(judgement: Judgement, why: string, canAsk: boolean): Judgement {
  return {
    ...judgement,
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
  readonly facts: Pick<Judgement, "matched" | "unmatched" | "env">;
}

function coverOf(input: JudgeInput): Cover {
  const { analysis } = input;
  const answers = analysis.segments.map((segment) => answerOf(segment, input));
  const matched = answers.flatMap((answer) => (answer.entry === undefined ? [] : [answer.entry]));
  const misses = answers.filter((answer) => !answer.covered);
  const facts = { matched, unmatched: misses.map((miss) => miss.name), env: {} };
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

/** What depends on arguments or files is only told for programs that are allowed: else every answer is the same miss. */
function answerOf(segment: AnalysedSegment, input: JudgeInput): Answer {
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

/** By the name it was called under, found on PATH: a path in the command line could lead anywhere. */
function isSkillBin({ judged }: AnalysedSegment, { policy, skillBins }: JudgeInput): boolean {
  const { written } = judged;
  return policy.autoAllowSkills && !written.includes("/") && (skillBins ?? []).includes(written);
}

function plain(outcome: Judgement["outcome"], code: string, reason: string): Judgement {
  return { outcome, code, reason, matched: [], unmatched: [], env: {} };
}
