// `models`: providers and models beyond the built-in ones; and the form of a model choice.
import { configuredModelApis } from "../../core/model-api.ts";
import { Type } from "../../core/schema.ts";
import {
  anything,
  choice,
  closed,
  flag,
  group,
  list,
  notBuilt,
  number,
  oneOf,
  record,
  secret,
  section,
  text,
  texts,
  whole,
} from "./field.ts";

/** `provider/model`, or the same with fallbacks. */
export const modelChoice = (description: string) =>
  oneOf(description, [
    Type.String({ minLength: 1 }),
    closed({
      primary: text("Model to try first, as provider/model."),
      fallbacks: texts("Models to try next, in this order."),
    }),
  ]);

const price = (what: string) => number(`${what}, in dollars per million tokens.`, { default: 0, minimum: 0 });

const model = closed({
  id: Type.String({ minLength: 1, description: "Model id that the provider uses." }),
  name: text("Display name."),
  api: choice("Protocol of this model, instead of the provider's.", configuredModelApis),
  reasoning: flag("Whether the model supports reasoning.", { default: false }),
  input: list("Kinds of input the model accepts.", Type.Enum(["text", "image"], { type: "string" }), {
    default: ["text"],
  }),
  cost: section("Prices of the model.", {
    input: price("Input"),
    output: price("Output"),
    cacheRead: price("Cached input"),
    cacheWrite: price("Writing the cache"),
  }),
  contextWindow: whole("Size of the context window in tokens.", { default: 200_000, minimum: 1 }),
  maxTokens: whole("Maximum number of output tokens; never more than contextWindow.", { default: 8192, minimum: 1 }),
  headers: record("Additional request headers for this model.", Type.String()),
  compat: notBuilt(anything("Deviations of this server from the protocol.")),
});

const provider = closed({
  baseUrl: text("Base URL of the service."),
  apiKey: secret("API key sent with every request."),
  auth: choice("How requests authenticate.", ["api-key", "aws-sdk", "oauth", "token"]),
  api: choice(
    "Protocol the service speaks. bedrock-converse-stream and github-copilot are not built yet.",
    configuredModelApis,
  ),
  authHeader: flag("Sends the key in the Authorization header."),
  headers: record("Additional request headers.", Type.String()),
  models: list("Models of this provider.", model),
});

export const models = section("Model providers in addition to the built-in ones.", {
  mode: choice("merge adds to the built-in providers, replace uses only the configured ones.", ["merge", "replace"], {
    default: "merge",
  }),
  providers: record("Providers by id.", provider),
  bedrockDiscovery: notBuilt(
    group("Discovery of models on Amazon Bedrock.", {
      enabled: flag("Enables discovery."),
      region: text("AWS region to query."),
      providerFilter: texts("Vendors whose models are listed."),
      refreshInterval: whole("Seconds between queries."),
      defaultContextWindow: whole("Context window in tokens when the service does not report one."),
      defaultMaxTokens: whole("Maximum output tokens when the service does not report a limit."),
    }),
  ),
});
