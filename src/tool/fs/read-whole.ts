// Implements WorkspaceFiles over the roots of the file tools.
import { failed } from "../../base/rooted-error.ts";
import type { WorkspaceFiles } from "../workspace-files.ts";
import { intendedPaths, withPath, type FileToolDeps } from "./access.ts";

export function createWorkspaceFiles(deps: FileToolDeps): WorkspaceFiles {
  return {
    intended: (call, raw) => intendedPaths(deps, call, raw),
    read: (call, raw, maxBytes) =>
      withPath(deps, call, raw, "read", async ({ root, path }) => {
        const { handle, size, real } = await root.open(path);
        try {
          if (size > maxBytes)
            throw failed("fs.too-large", real, `has ${size} bytes; the limit is ${maxBytes}`, "use a smaller copy");
          const bytes = Buffer.alloc(size);
          const { bytesRead } = await handle.read(bytes, 0, size, 0);
          return { path: real, bytes: bytes.subarray(0, bytesRead) };
        } finally {
          await handle.close();
        }
      }),
  };
}
