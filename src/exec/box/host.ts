// No box at all: commands run on this machine as they are.
import type { Box } from "../box.ts";

export function createHostBox(workdir: string): Box {
  return {
    kind: "host",
    name: "host",
    mounts: [],
    workdir,
    launch: async ({ argv, cwd, env }) => ({ argv, cwd, env }),
  };
}
