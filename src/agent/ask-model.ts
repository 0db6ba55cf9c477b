// Asks a model one question outside the conversation, within the budget of its session, and counts what it used.
import { OpenClawError } from "../core/error.ts";
import type { Usage } from "../core/message.ts";
import type { Config } from "../config/schema/index.ts";
import type { AskModel, ModelAttempt, ModelQuestion } from "../model/ask.ts";
import { nameOf } from "../model/catalog.ts";
import type { ModelBook, ModelFacts, ModelFailure, ModelRef, ModelRequest } from "../model/model.ts";
import { streamWithFailover } from "../model/retry.ts";
import type { Budget, Budgets } from "./budget.ts";
import { tokensIn } from "./estimate.ts";
import type { Ledger } from "./ledger.ts";
import { CHARS_PER_TOKEN } from "./limits.ts";

export interface AskModelDeps {
  readonly models: ModelBook;
  readonly budgets: Budgets;
  readonly ledger: Ledger;
  readonly config: () => Config;
}

/** Less than in a conversation: a person or a run waits for the tool, and another model may be next. */
const patience = { maxTries: 3, maxWaitMs: 15_000 };

export function createAskModel(deps: AskModelDeps): AskModel {
  const { models } = deps;
  return async function askModel(question) {
    const { signal } = question;
    const attempts: ModelAttempt[] = [];
    const answer = await withinBudget(deps, question, async (budget) => {
      for (const ref of question.models) {
        await requireBudget(budget, tokensOfQuestion(question), models.facts(ref));
        const said = await askOne(models, ref, question, budget);
        if (!("kind" in said)) return { ...said, attempts: [...attempts, { model: nameOf(said.ref) }] };
        signal.throwIfAborted();
        attempts.push({ model: nameOf(ref), error: said.message });
      }
      return undefined;
    });
    if (answer !== undefined) return answer;
    const causes = attempts.map(({ model, error }) => `${model}: ${error}`).join("; ");
    throw new OpenClawError("model.failed", `no model answered. ${causes}`, { details: { attempts } });
  };
}

/** Opens the budget of a session for some requests outside the conversation, and counts what they used. */
export async function withinBudget<T>(
  { budgets, ledger, config }: Omit<AskModelDeps, "models">,
  { agentId, sessionKey }: Pick<ModelQuestion, "agentId" | "sessionKey">,
  work: (budget: Budget) => Promise<T>,
): Promise<T> {
  const budget = budgets.open(config(), agentId, sessionKey);
  try {
    return await work(budget);
  } finally {
    const used = budget.usedByModel();
    if (used.length > 0) await (await ledger.book({ agentId, sessionKey, used }))();
    budget.close();
  }
}

/** Throws with the code of the limit that the request would exceed. */
export async function requireBudget(budget: Budget, inputTokens: number, facts: ModelFacts): Promise<void> {
  const exceeded = await budget.reserve(inputTokens, facts);
  if (exceeded === undefined) return;
  const { code, message, hint } = exceeded;
  throw new OpenClawError(code, message, hint === undefined ? {} : { hint });
}

const tokensOfQuestion = ({ system, messages }: ModelQuestion): number =>
  tokensIn(messages) + Math.ceil(system.length / CHARS_PER_TOKEN);

async function askOne(
  models: ModelBook,
  ref: ModelRef,
  { agentId, system, messages, maxTokens = Infinity, settings, sessionKey, signal }: ModelQuestion,
  budget: Budget,
): Promise<{ readonly text: string; readonly ref: ModelRef; readonly usage: Usage } | ModelFailure> {
  let text = "";
  let failure: ModelFailure = { kind: "empty", message: "the model gave no answer" };
  let usage: Usage | undefined;
  const turn = {
    agentId,
    signal,
    request: (_ref: ModelRef, facts: ModelFacts): ModelRequest => ({
      system,
      messages,
      tools: [],
      thinking: "off",
      maxTokens: Math.min(maxTokens, budget.granted(facts)),
      cacheKey: sessionKey,
      ...(settings === undefined ? {} : { settings }),
    }),
  };
  for await (const event of streamWithFailover(models, [ref], turn, patience)) {
    if (event.type === "model") text = "";
    if (event.type === "text") text += event.delta;
    if (event.type === "error") failure = event.error;
    if (event.type === "end") usage = event.usage;
  }
  budget.settle(usage, models.facts(ref), ref);
  return usage === undefined || text.trim() === "" ? failure : { text, ref, usage };
}
