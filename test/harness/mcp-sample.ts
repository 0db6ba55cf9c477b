// A real gateway in this process with the sample tools, resources and prompts that the official MCP conformance suite calls.
// They come in through the registries that plugins use; no gateway of a user has them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { openGatewayOver } from "../../src/app/gateway.ts";
import { openRuntime } from "../../src/app/runtime.ts";
import { resolvePaths } from "../../src/base/paths.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ToolError } from "../../src/core/error.ts";
import { Type, type TObject } from "../../src/core/schema.ts";
import { createMcpRegistry, type McpRegistry } from "../../src/mcp/server/registry.ts";
import { defineTool, type ClientAnswer, type ClientQuestion, type Tool, type ToolResult } from "../../src/tool/tool.ts";

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

export interface SampleGateway {
  readonly url: string;
  readonly token: string;
  readonly workspace: string;
  /** Changes the config on disk and in force. */
  reconfigure(change: (config: Record<string, unknown>) => Record<string, unknown>): void;
  close(): Promise<void>;
}

export async function openSampleGateway(config: Record<string, unknown> = {}): Promise<SampleGateway> {
  const home = mkdtempSync(join(tmpdir(), "openclaw-mcp-"));
  const state = join(home, ".openclaw");
  const workspace = join(state, "workspace");
  mkdirSync(workspace, { recursive: true });
  const token = "t".repeat(32);
  const file = join(state, "openclaw.json");
  const write = (value: object): void => writeFileSync(file, JSON.stringify(value, null, 2), { mode: 0o600 });
  write({
    ...config,
    gateway: {
      mode: "local",
      auth: { mode: "token", token },
      http: { endpoints: { mcp: { enabled: true, sampling: true } } },
    },
    logging: { consoleLevel: "silent" },
    tools: { alsoAllow: ["conformance"], ...(config["tools"] as object | undefined) },
  });
  const env = { HOME: home, PATH: process.env["PATH"] };
  const paths = resolvePaths(env);
  const reconfigure: SampleGateway["reconfigure"] = (change) => {
    write(change(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>));
    running.context.applyConfigFile();
  };
  const registry = sampleRegistry();
  const tools = sampleTools({
    changeTools: () =>
      reconfigure((now) => {
        const { deny: _deny, ...rest } = now["tools"] as { deny?: unknown };
        return { ...now, tools: _deny === undefined ? { ...rest, deny: ["test_optional"] } : rest };
      }),
    changePrompts: () => registry.promptsChanged(),
  });
  const loaded = loadConfig({ paths, env });
  const pluginTools = [{ id: "conformance", tools }];
  const runtime = await openRuntime({ paths, env, loaded, consoleLevel: "silent", pluginTools });
  const running = await openGatewayOver(runtime, { port: 0 }, { restart: () => {}, mcp: registry });
  return {
    url: `http://127.0.0.1:${running.gateway.port}`,
    token,
    workspace,
    reconfigure,
    async close() {
      await running.close({ text: "over" });
      await runtime.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

interface Changes {
  readonly changeTools: () => void;
  readonly changePrompts: () => void;
}

const text = (words: string): ToolResult => ({ content: [{ type: "text", text: words }] });

function sample(
  name: string,
  run: Tool["run"],
  more: { readonly params?: TObject; readonly output?: TObject } = {},
): Tool {
  return defineTool({
    name,
    summary: name,
    description: `Sample tool ${name} of the conformance suite.`,
    params: more.params ?? Type.Object({}, { additionalProperties: false }),
    intent: () => ({ does: "look" }),
    run,
    ...(more.output === undefined ? {} : { output: more.output }),
  });
}

function sampleTools({ changeTools, changePrompts }: Changes): Tool[] {
  return [
    ...contentTools,
    ...clientTools,
    ...askingTools,
    sample("test_optional", async () => text("There only part of the time.")),
    sample("test_trigger_tool_change", async () => {
      changeTools();
      return text("The list of tools has changed.");
    }),
    sample("test_trigger_prompt_change", async () => {
      changePrompts();
      return text("The list of prompts has changed.");
    }),
  ];
}

const resource = (uri: string, mimeType: string, words: string) =>
  ({ type: "resource", resource: { uri, mimeType, text: words } }) as const;
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;

const contentTools: Tool[] = [
  sample("test_simple_text", async () => text("This is a simple text response for testing.")),
  sample("test_image_content", async () => ({ content: [image] })),
  sample("test_audio_content", async () => ({
    content: [{ type: "text", text: "A moment of silence." }],
    attachments: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  })),
  sample("test_embedded_resource", async () => ({
    content: [],
    attachments: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })),
  sample("test_multiple_content_types", async () => ({
    content: [{ type: "text", text: "Multiple content types test:" }, image],
    attachments: [resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
  })),
  sample("test_error_handling", () =>
    Promise.reject(new ToolError("sample.error", "This tool intentionally returns an error for testing")),
  ),
  sample(
    "test_structured_content",
    async () => ({ content: [{ type: "text", text: '{"degrees":21}' }], details: { degrees: 21 } }),
    { output: Type.Object({ degrees: Type.Number() }, { additionalProperties: false }) },
  ),
  sample("json_schema_2020_12_tool", async () => text("Fits."), { params: schema2020() }),
  sample("test_x_mcp_header", async (args) => text(`Hello, ${String((args as { name?: unknown }).name)}`), {
    params: Type.Object({ name: Type.String({ "x-mcp-header": "Name" }) }, { additionalProperties: false }),
  }),
];

function schema2020(): TObject {
  return Type.Unsafe({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // Written out it would look like a promise.
    ...(JSON.parse('{"then":{"required":["phone"]}}') as object),
    else: { required: ["email"] },
    additionalProperties: false,
  }) as unknown as TObject;
}

/** The suite wants to see messages arrive one after another. */
const PAUSE_MS = 50;

const clientTools: Tool[] = [
  sample("test_tool_with_logging", async (_args, { client }) => {
    client?.log("info", "Tool execution started");
    await sleep(PAUSE_MS);
    client?.log("info", "Tool processing data");
    await sleep(PAUSE_MS);
    client?.log("info", "Tool execution completed");
    return text("Logged.");
  }),
  sample("test_logging_tool", async (_args, { client }) => {
    client?.log("error", "Only for clients that asked for it");
    return text("Logged.");
  }),
  sample("test_tool_with_progress", async (_args, { client }) => {
    client?.report(0, 100);
    await sleep(PAUSE_MS);
    client?.report(50, 100);
    await sleep(PAUSE_MS);
    client?.report(100, 100);
    // The official client 1.x drops progress that arrives in one read with the result.
    await sleep(PAUSE_MS);
    return text("Done.");
  }),
  /** Whoever runs the suite cuts the connection after the first message. */
  sample("test_reconnection", async (_args, { client }) => {
    client?.log("error", "About to lose the connection");
    await sleep(10 * PAUSE_MS);
    return text("Resumed.");
  }),
  sample("test_wait", async (_args, { client, signal }) => {
    client?.log("error", "waiting");
    await new Promise((_resolve, reject) => {
      const stop = (): void => reject(new ToolError("tool.aborted", "stopped"));
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop);
    });
    return text("never");
  }),
];

const form = (message: string, properties: Record<string, unknown>, required?: string[]): ClientQuestion => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, ...(required ? { required } : {}) } },
});
const prompt = (words: string, maxTokens = 100): ClientQuestion => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens },
});
const roots: ClientQuestion = { method: "roots/list", params: {} };

type Questions = Record<string, ClientQuestion>;
type Say = (answers: Readonly<Record<string, ClientAnswer>>) => string;

function asking(name: string, questions: Questions, say: Say): Tool {
  return sample(name, async (_args, { client }) => {
    if (client === undefined) throw new ToolError("sample.no-client", "needs a client that can be asked");
    return text(say(await client.ask(questions)));
  });
}

const name = form("What is your name?", { name: { type: "string" } }, ["name"]);
const confirm = form("Please confirm", { ok: { type: "boolean" } }, ["ok"]);
const describeAnswers = (answers: unknown): string => `The client answered: ${JSON.stringify(answers)}`;
const options = ["option1", "option2", "option3"];
const titled = (word: string) =>
  [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${["First", "Second", "Third"][at - 1]} ${word}` }));

const askingTools: Tool[] = [
  sample(
    "test_sampling",
    async (args, { client }) => {
      const { prompt: words } = args as { prompt: string };
      const answers = await client?.ask({ sample: prompt(words) });
      return text(`LLM response: ${JSON.stringify(answers?.["sample"]?.["content"])}`);
    },
    { params: Type.Object({ prompt: Type.String() }, { additionalProperties: false }) },
  ),
  sample(
    "test_elicitation",
    async (args, { client }) => {
      const { message } = args as { message: string };
      const fields = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      const answers = await client?.ask({ user: form(message, fields, ["username", "email"]) });
      return text(`User response: ${JSON.stringify(answers?.["user"])}`);
    },
    { params: Type.Object({ message: Type.String() }, { additionalProperties: false }) },
  ),
  asking(
    "test_elicitation_sep1034_defaults",
    {
      form: form("Check your data", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
    },
    describeAnswers,
  ),
  asking(
    "test_elicitation_sep1330_enums",
    {
      form: form("Choose", {
        untitledSingle: { type: "string", enum: options },
        titledSingle: { type: "string", oneOf: titled("Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: options } },
        titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
      }),
    },
    describeAnswers,
  ),
  asking("test_missing_capability", { question: prompt("Anything") }, describeAnswers),
  asking("test_streaming_elicitation", { user_name: name }, describeAnswers),
  asking("test_input_required_result_elicitation", { user_name: name }, describeAnswers),
  asking(
    "test_input_required_result_sampling",
    { capital_question: prompt("What is the capital of France?") },
    describeAnswers,
  ),
  asking("test_input_required_result_list_roots", { client_roots: roots }, describeAnswers),
  asking("test_input_required_result_request_state", { confirm }, () => "state-ok"),
  asking("test_input_required_result_tampered_state", { confirm }, () => "state-ok"),
  asking(
    "test_input_required_result_multiple_inputs",
    { user_name: name, greeting: prompt("Generate a greeting", 50), client_roots: roots },
    describeAnswers,
  ),
  sample("test_input_required_result_multi_round", async (_args, { client }) => {
    const step = (words: string, field: string): ClientQuestion =>
      form(words, { [field]: { type: "string" } }, [field]);
    const first = await client?.ask({ step1: step("Step 1: What is your name?", "name") });
    const second = await client?.ask({ step2: step("Step 2: What is your favorite color?", "color") });
    return text(describeAnswers({ ...first, ...second }));
  }),
  sample("test_input_required_result_capabilities", async (_args, { client }) => {
    const all: Questions = { elicit: name, sample: prompt("Anything") };
    const able = Object.entries(all).filter(([, { method }]) => client?.can(method) === true);
    return text(describeAnswers(await client?.ask(Object.fromEntries(able))));
  }),
];

function sampleRegistry(): McpRegistry {
  const fixed: Record<string, object> = {
    "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
    "test://static-binary": { mimeType: "image/png", blob: PNG },
    "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
  };
  return createMcpRegistry({
    resources: [
      {
        list: async () =>
          Object.keys(fixed).map((uri) => ({ uri, name: uri.slice("test://".length), description: "A sample" })),
        templates: () => [
          {
            uriTemplate: "test://template/{id}/data",
            name: "template",
            description: "A sample",
            mimeType: "application/json",
          },
        ],
        async read(uri) {
          const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
          if (id !== undefined)
            return [
              {
                uri,
                mimeType: "application/json",
                text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
              },
            ];
          const known = fixed[uri];
          return known === undefined ? undefined : [{ uri, ...known } as { uri: string; text: string }];
        },
        watch: (uri) => (uri === "test://watched-resource" ? () => {} : undefined),
      },
    ],
    prompts: [
      {
        list: async () => [
          { name: "test_simple_prompt", description: "A prompt without arguments." },
          {
            name: "test_prompt_with_arguments",
            description: "A prompt with two arguments.",
            arguments: [
              { name: "arg1", description: "First test argument", required: true },
              { name: "arg2", description: "Second test argument", required: true },
            ],
          },
          {
            name: "test_prompt_with_embedded_resource",
            description: "A prompt with a resource.",
            arguments: [{ name: "resourceUri", description: "URI of the resource to embed", required: true }],
          },
          { name: "test_prompt_with_image", description: "A prompt with an image." },
          { name: "test_input_required_result_prompt", description: "A prompt that asks its user." },
        ],
        async get(given, args, _user, client) {
          const say = (...contents: object[]) => ({
            messages: contents.map((content) => ({ role: "user" as const, content })),
          });
          const words = (line: string) => ({ type: "text", text: line });
          switch (given) {
            case "test_simple_prompt":
              return say(words("This is a simple prompt for testing."));
            case "test_prompt_with_arguments":
              return say(words(`Prompt with arguments: arg1='${args["arg1"]}', arg2='${args["arg2"]}'`));
            case "test_prompt_with_embedded_resource":
              return say(
                resource(args["resourceUri"] ?? "", "text/plain", "Embedded resource content for testing."),
                words("Please process the embedded resource above."),
              );
            case "test_prompt_with_image":
              return say(image, words("Please analyze the image above."));
            default: {
              const question = form("What context should the prompt use?", { context: { type: "string" } }, [
                "context",
              ]);
              return say(words(describeAnswers(await client.ask({ user_context: question }))));
            }
          }
        },
        complete: async (_prompt, _argument, value) =>
          ["paris", "park", "test1"].filter((one) => one.startsWith(value)),
      },
    ],
  });
}
