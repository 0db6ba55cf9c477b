// `models`: providers and models beyond the built-in ones; and the shape in which a model is chosen anywhere.
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

/** `provider/model`, or the same with fall-backs. */
export const modelChoice = (description: string) =>
  oneOf(description, [
    Type.String({ minLength: 1 }),
    closed({
      primary: text("Model tried first, as provider/model."),
      fallbacks: texts("Models tried next, in order."),
    }),
  ]);

const price = (what: string) => number(`${what}, in dollars per million tokens.`, { default: 0, minimum: 0 });

const model = closed({
  id: Type.String({ minLength: 1, description: "Name the provider knows it by." }),
  name: text("Name shown to people."),
  api: choice("Protocol of this model, instead of the provider's.", configuredModelApis),
  reasoning: flag("It can think before it answers.", { default: false }),
  input: list("What it takes.", Type.Enum(["text", "image"], { type: "string" }), { default: ["text"] }),
  cost: section("What it costs.", {
    input: price("Input"),
    output: price("Output"),
    cacheRead: price("Cached input"),
    cacheWrite: price("Writing the cache"),
  }),
  contextWindow: whole("Tokens it can hold.", { default: 200_000, minimum: 1 }),
  maxTokens: whole("Tokens it may answer with; never more than contextWindow.", { default: 8192, minimum: 1 }),
  headers: record("Further request headers for this model.", Type.String()),
  compat: notBuilt(anything("Small deviations of this server from the protocol.")),
});

const provider = closed({
  baseUrl: text("Root of the service."),
  apiKey: secret("Key sent with every request."),
  auth: choice("How requests prove who sends them.", ["api-key", "aws-sdk", "oauth", "token"]),
  api: choice(
    "Protocol the service speaks. bedrock-converse-stream and github-copilot are not built yet.",
    configuredModelApis,
  ),
  authHeader: flag("Send the key as an Authorization header."),
  headers: record("Further request headers.", Type.String()),
  models: list("Models of this provider.", model),
});

export const models = section("Model providers besides the built-in ones.", {
  mode: choice("Add to the built-in providers or stand in for them.", ["merge", "replace"], { default: "merge" }),
  providers: record("Providers by id.", provider),
  bedrockDiscovery: notBuilt(
    group("Finding models on Amazon Bedrock.", {
      enabled: flag("Look for models."),
      region: text("Region to look in."),
      providerFilter: texts("Vendors to keep."),
      refreshInterval: whole("Seconds between looks."),
      defaultContextWindow: whole("Tokens assumed when the service does not say."),
      defaultMaxTokens: whole("Answer tokens assumed when the service does not say."),
    }),
  ),
});
