// Whether a sandbox can be had on this machine; tests that need one skip with these words.
import { spawnSync } from "node:child_process";

export const noBubblewrap: string | false =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0
    ? false
    : "needs a working bubblewrap: apt-get install -y bubblewrap";
