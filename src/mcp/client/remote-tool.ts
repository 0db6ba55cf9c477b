// Tools as an MCP server declares them, parsed once; the hash of one covers everything that a model or our checks read.
import { isRecord } from "../../core/record.ts";
import { sha256 } from "../../base/ids.ts";

export interface RemoteTool {
  /** On the server. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** The server's own claim, used for the order of calls and the journal, never to allow one. */
  readonly readOnly: boolean;
}

export const MAX_TOOLS = 1_000;
const MAX_TEXT = 20_000;
const MAX_SCHEMA_CHARS = 100_000;
const namePattern = /^[A-Za-z0-9_./-]{1,128}$/;

/** Undefined for an entry that is not a tool or that no model could call. */
export function parseRemoteTool(raw: unknown): RemoteTool | undefined {
  if (!isRecord(raw)) return undefined;
  const { name, title, description = "", inputSchema, outputSchema, annotations, execution } = raw;
  if (typeof name !== "string" || !namePattern.test(name) || typeof description !== "string") return undefined;
  if (!isSchema(inputSchema) || (outputSchema !== undefined && !isSchema(outputSchema))) return undefined;
  // Tasks are an extension that this client does not speak: the server would reject every call.
  if (isRecord(execution) && execution["taskSupport"] === "required") return undefined;
  return {
    name,
    ...(typeof title === "string" ? { title: title.slice(0, 200) } : {}),
    description: description.slice(0, MAX_TEXT).toWellFormed(),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    readOnly: isRecord(annotations) && annotations["readOnlyHint"] === true,
  };
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && value["type"] === "object" && JSON.stringify(value).length <= MAX_SCHEMA_CHARS;
}

/** The same for two lists in which only the order of keys differs. */
export function hashOf(tool: RemoteTool): string {
  return sha256(JSON.stringify(sorted(tool)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, sorted(value[key])]);
}

export interface ToolChanges {
  readonly added: readonly RemoteTool[];
  readonly changed: readonly { readonly before: RemoteTool; readonly after: RemoteTool }[];
  readonly removed: readonly RemoteTool[];
}

export function changesBetween(before: readonly RemoteTool[], after: readonly RemoteTool[]): ToolChanges {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const names = new Set(after.map(({ name }) => name));
  return {
    added: after.filter(({ name }) => !old.has(name)),
    changed: after.flatMap((tool) => {
      const was = old.get(tool.name);
      return was === undefined || hashOf(was) === hashOf(tool) ? [] : [{ before: was, after: tool }];
    }),
    removed: before.filter(({ name }) => !names.has(name)),
  };
}

export function hasChanges({ added, changed, removed }: ToolChanges): boolean {
  return added.length + changed.length + removed.length > 0;
}
