// The write tool: creates or replaces a whole file atomically.
import { Type } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { failed } from "../../base/rooted-error.ts";
import { defineTool, nonBlank, type Tool } from "../tool.ts";
import { intendedPaths, withPath, type FileToolDeps } from "./access.ts";
import { foldArguments } from "../fold-arguments.ts";
import { whenWritable } from "./availability.ts";

export const WRITE_MAX_BYTES = 10_000_000;

const params = Type.Object(
  {
    path: nonBlank("File to write, absolute or relative to the workspace."),
    content: Type.String({ description: "Complete new content of the file." }),
  },
  { additionalProperties: false },
);

export interface WriteDetails {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly bytes: number;
  readonly created: boolean;
}

export function createWriteTool(deps: FileToolDeps): Tool<typeof params, WriteDetails> {
  return defineTool({
    name: "write",
    summary: "Create or overwrite a file",
    description:
      "Create a file, with missing parent folders, or replace its whole content. To change part of a file, use edit.",
    params,
    available: whenWritable,
    prepare: (raw) => foldArguments(raw, { file_path: "path" }),
    intent: ({ path }, call) => ({ does: "write", paths: intendedPaths(deps, call, path) }),
    async run({ path: asked, content }, call) {
      const bytes = toBytes(asked, content);
      return withPath(deps, call, asked, "write", async ({ root, path, claim, remarks }) => {
        const lane = await claim();
        const { real, created } = await deps.lanes.run(
          lane,
          () => root.write(path, bytes, { signal: call.signal }),
          call.signal,
        );
        return {
          content: [
            { type: "text", text: `${created ? "Created" : "Replaced"} ${visible(real)} (${bytes.length} bytes)` },
            ...remarks(),
          ],
          details: { path: real, bytes: bytes.length, created },
        };
      });
    },
  });
}

/** Rejects content over the limit before anything is touched and before a huge text is copied. */
export function toBytes(path: string, content: string): Buffer {
  if (content.length > WRITE_MAX_BYTES || Buffer.byteLength(content) > WRITE_MAX_BYTES) {
    throw failed(
      "fs.too-large",
      path,
      `the content is larger than ${WRITE_MAX_BYTES} bytes; nothing was written`,
      "write it in parts, or create it with a program through exec",
    );
  }
  return Buffer.from(content);
}
