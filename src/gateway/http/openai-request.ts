// Parameters of both OpenAI-compatible endpoints: which are honored, which have no effect here, and which are rejected.
import type { ThinkingLevel } from "../../core/thinking-level.ts";
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import type { AnswerSettings, ModelTool } from "../../model/model.ts";

/** Rejects the request with 400; OpenAI clients show `param` and `code`. */
export function refuse(param: string, message: string, code = "invalid_value"): never {
  throw new OpenClawError("http.bad-parameter", `${param}: ${message}`, { details: { param, code } });
}

export type Body = Readonly<Record<string, unknown>>;

export interface KnownParameters {
  /** Read by the endpoint, or without effect on the result. */
  readonly taken: ReadonlySet<string>;
  /** Not built: rejected unless they have the value without effect. */
  readonly neutral: Readonly<Record<string, unknown>>;
}

/** A parameter that would change the result is never ignored. */
export function checkParameters(body: Body, { taken, neutral }: KnownParameters): void {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || taken.has(name)) continue;
    if (!Object.hasOwn(neutral, name)) refuse(name, "unknown parameter", "unknown_parameter");
    if (JSON.stringify(value) !== JSON.stringify(neutral[name]))
      refuse(name, "this parameter is not supported", "unsupported_parameter");
  }
}

export function optionalNumber(
  body: Body,
  name: string,
  { min, max, whole = false }: { readonly min: number; readonly max: number; readonly whole?: boolean },
): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  const fits = typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));
  return fits ? value : refuse(name, `must be ${whole ? "an integer" : "a number"} from ${min} to ${max}`);
}

export function optionalText(body: Body, name: string): string | undefined {
  const value = body[name] ?? undefined;
  return value === undefined || typeof value === "string" ? value : refuse(name, "must be a string");
}

export function optionalFlag(body: Body, name: string): boolean | undefined {
  const value = body[name] ?? undefined;
  return value === undefined || typeof value === "boolean" ? value : refuse(name, "must be true or false");
}

export function optionalRecord(body: Body, name: string): Body | undefined {
  const value = body[name] ?? undefined;
  return value === undefined || isRecord(value) ? value : refuse(name, "must be an object");
}

const tokens = { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true } as const;

/** `limits` name the parameters that limit the output; the first one given counts. */
export function answerSettings(body: Body, limits: readonly string[]): AnswerSettings {
  const stop = stopSequences(body["stop"] ?? undefined);
  const found = {
    maxOutputTokens: limits.map((name) => optionalNumber(body, name, tokens)).find((value) => value !== undefined),
    temperature: optionalNumber(body, "temperature", { min: 0, max: 2 }),
    topP: optionalNumber(body, "top_p", { min: 0, max: 1 }),
    seed: optionalNumber(body, "seed", { ...tokens, min: Number.MIN_SAFE_INTEGER }),
    presencePenalty: nonZero(optionalNumber(body, "presence_penalty", { min: -2, max: 2 })),
    frequencyPenalty: nonZero(optionalNumber(body, "frequency_penalty", { min: -2, max: 2 })),
    stopSequences: stop,
    singleCall: optionalFlag(body, "parallel_tool_calls") === false ? true : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as AnswerSettings;
}

const nonZero = (value: number | undefined): number | undefined => (value === 0 ? undefined : value);

function stopSequences(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const words: unknown[] = Array.isArray(value) ? value : [value];
  const isFine = words.length <= 4 && words.every((word) => typeof word === "string" && word !== "");
  if (!isFine) return refuse("stop", "must be a string or a list of up to 4 strings");
  return words.length === 0 ? undefined : (words as string[]);
}

/** `response_format` of one endpoint, `text.format` of the other. */
export function jsonFormat(format: Body | undefined, param: string): Pick<AnswerSettings, "json"> {
  const type = format?.["type"] ?? "text";
  if (type === "text") return {};
  if (type === "json_object") return { json: {} };
  if (type !== "json_schema") return refuse(`${param}.type`, "must be text, json_object or json_schema");
  const inner = format?.["json_schema"];
  const { schema, name, description } = isRecord(inner) ? inner : (format ?? {});
  if (!isRecord(schema)) return refuse(param, "json_schema needs a schema");
  return {
    json: {
      schema,
      ...(typeof name === "string" ? { name } : {}),
      ...(typeof description === "string" ? { description } : {}),
    },
  };
}

const efforts: Readonly<Record<string, ThinkingLevel | undefined>> = {
  none: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
};

export function thinkingOf(effort: unknown, param: string): { readonly thinking?: ThinkingLevel } {
  if (effort === undefined || effort === null) return {};
  const level = typeof effort === "string" && Object.hasOwn(efforts, effort) ? efforts[effort] : undefined;
  return level === undefined ? refuse(param, `must be one of ${Object.keys(efforts).join(", ")}`) : { thinking: level };
}

const MAX_TOOLS = 128;

/** Both published forms: nested under `function`, and flat. Rejects names of the agent's own tools. */
export function clientTools(tools: unknown, own: () => readonly { readonly name: string }[]): ModelTool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS)
    return refuse("tools", `must be a list of at most ${MAX_TOOLS} tools`);
  const read = (tools as unknown[]).map((tool, index) => readTool(tool, `tools[${index}]`));
  if (read.length === 0) return read;
  const taken = new Set(own().map(({ name }) => name));
  for (const [index, { name }] of read.entries()) {
    if (taken.has(name))
      refuse(`tools[${index}].name`, `the agent has its own tool "${name}"; rename yours`, "tool_name_taken");
    taken.add(name);
  }
  return read;
}

function readTool(tool: unknown, at: string): ModelTool {
  if (!isRecord(tool) || tool["type"] !== "function")
    return refuse(`${at}.type`, "only tools of type function are supported", "unsupported_value");
  const { name, description, parameters, strict } = isRecord(tool["function"]) ? tool["function"] : tool;
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name))
    return refuse(`${at}.name`, "must be 1 to 64 letters, digits, _ or -");
  if (description !== undefined && description !== null && typeof description !== "string")
    return refuse(`${at}.description`, "must be a string");
  if (parameters !== undefined && parameters !== null && !isRecord(parameters))
    return refuse(`${at}.parameters`, "must be a JSON Schema object");
  return {
    name,
    description: description ?? "",
    parameters: { type: "object", ...(parameters ?? { properties: {} }) },
    ...(strict === true ? { strict } : {}),
  };
}

export interface ChosenTools {
  readonly tools: readonly ModelTool[];
  readonly settings: Pick<AnswerSettings, "toolChoice">;
}

/** A choice that forces a call means the caller's tools, because the caller does not know those of the agent. */
export function chooseTools(choice: unknown, tools: readonly ModelTool[]): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { tools, settings: {} };
  if (choice === "none") return { tools, settings: { toolChoice: "none" } };
  if (tools.length === 0) return refuse("tool_choice", "is only allowed when tools are given");
  if (choice === "required") return { tools, settings: { toolChoice: "required" } };
  const type = isRecord(choice) ? choice["type"] : undefined;
  if (!isRecord(choice) || (type !== "function" && type !== "allowed_tools"))
    return refuse("tool_choice", "must be none, auto, required, a function or allowed_tools", "unsupported_value");
  if (type === "function") return { tools, settings: { toolChoice: { tool: nameOf(choice, tools) } } };
  const list = isRecord(choice["allowed_tools"]) ? choice["allowed_tools"] : choice;
  if (!Array.isArray(list["tools"])) return refuse("tool_choice.tools", "must be a list");
  const allowed = new Set((list["tools"] as unknown[]).map((tool) => nameOf(isRecord(tool) ? tool : {}, tools)));
  const settings = list["mode"] === "required" ? { toolChoice: "required" as const } : {};
  return { tools: tools.filter(({ name }) => allowed.has(name)), settings };
}

function nameOf(choice: Body, tools: readonly ModelTool[]): string {
  const inner = choice["function"];
  const name = isRecord(inner) ? inner["name"] : choice["name"];
  const found = tools.find((tool) => tool.name === name);
  return found === undefined ? refuse("tool_choice", `names a tool that is not in tools: ${String(name)}`) : found.name;
}
