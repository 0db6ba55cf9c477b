// The size of a request before the first message, in characters: prompt, workspace files and tool schemas.
import { join } from "node:path";

import { isRecord } from "../core/record.ts";
import type { ModelRef } from "../model/model.ts";
import type { OfferedTool } from "../tool/catalog.ts";
import type { BootstrapFile } from "./prompt/files.ts";
import type { ContextWeight } from "../protocol/methods/usage.ts";

export type { ContextWeight };

export interface WeighedRequest {
  readonly now: number;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly ref: ModelRef;
  readonly workspace: string;
  readonly bootstrapMaxChars: number;
  readonly sandbox: ContextWeight["sandbox"];
  readonly system: string;
  readonly files: readonly BootstrapFile[];
  readonly offered: readonly OfferedTool[];
}

export function weighContext(request: WeighedRequest): ContextWeight {
  const { now, sessionId, sessionKey, ref, workspace, bootstrapMaxChars, sandbox, system, files, offered } = request;
  const projectContextChars = files.reduce((sum, { text }) => sum + text.length, 0);
  const entries = offered.map((tool) => ({ name: tool.name, summaryChars: tool.summary.length, ...sizeOf(tool) }));
  return {
    source: "run",
    generatedAt: now,
    sessionId,
    sessionKey,
    provider: ref.provider,
    model: ref.id,
    workspaceDir: workspace,
    bootstrapMaxChars,
    sandbox,
    systemPrompt: {
      chars: system.length,
      projectContextChars,
      nonProjectContextChars: system.length - projectContextChars,
    },
    injectedWorkspaceFiles: files.map(({ name, text, rawChars = text.length }) => ({
      name,
      path: join(workspace, name),
      missing: false,
      rawChars,
      injectedChars: text.length,
      truncated: rawChars > bootstrapMaxChars,
    })),
    skills: { promptChars: 0, entries: [] },
    tools: {
      listChars: offered.reduce((sum, { name, summary }) => sum + `- ${name}: ${summary}\n`.length, 0),
      schemaChars: entries.reduce((sum, { schemaChars }) => sum + schemaChars, 0),
      entries,
    },
  };
}

// Schemas are the same objects in every turn, so their size is cached.
const sizes = new WeakMap<object, { readonly schemaChars: number; readonly propertiesCount: number }>();

function sizeOf({ parameters }: OfferedTool): { readonly schemaChars: number; readonly propertiesCount: number } {
  if (!isRecord(parameters)) return { schemaChars: 0, propertiesCount: 0 };
  const known = sizes.get(parameters);
  if (known !== undefined) return known;
  const { properties } = parameters;
  const size = {
    schemaChars: JSON.stringify(parameters).length,
    propertiesCount: isRecord(properties) ? Object.keys(properties).length : 0,
  };
  sizes.set(parameters, size);
  return size;
}
