// Which service a Perplexity key belongs to.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { SearchConfig } from "./engine.ts";
import { perplexity } from "./perplexity.ts";

const direct = ["https://api.perplexity.ai", "sonar-pro"];
const openRouter = ["https://openrouter.ai/api/v1", "perplexity/sonar-pro"];

test("the kind of key decides where it goes and how the model is spelled", () => {
  const cases: readonly [config: SearchConfig, env: Record<string, string>, settings: readonly string[]][] = [
    [{}, { PERPLEXITY_API_KEY: "x" }, direct],
    [{}, { OPENROUTER_API_KEY: "x" }, openRouter],
    [{}, { PERPLEXITY_API_KEY: "x", OPENROUTER_API_KEY: "y" }, direct],
    [{ perplexity: { apiKey: "pplx-1" } }, {}, direct],
    [{ perplexity: { apiKey: "sk-or-1" } }, {}, openRouter],
    [{ perplexity: { apiKey: "other" } }, { PERPLEXITY_API_KEY: "x" }, openRouter],
    [{ perplexity: { apiKey: "other", baseUrl: "https://api.perplexity.ai" } }, {}, direct],
    [{ perplexity: { model: "perplexity/sonar" } }, { PERPLEXITY_API_KEY: "x" }, [direct[0] ?? "", "sonar"]],
  ];
  for (const [config, env, settings] of cases)
    assert.deepEqual(perplexity.settings({ config, env }), settings, JSON.stringify([config, env]));
  assert.equal(perplexity.missing({ config: {}, env: {} })?.error, "missing_api_key");
});
