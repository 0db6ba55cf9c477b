// Runs the shared sandbox cases with bubblewrap on this machine's kernel.
import { existsSync } from "node:fs";

import { sandboxCases } from "../sandbox.cases.ts";

sandboxCases("bubblewrap", async () =>
  existsSync("/usr/bin/bwrap")
    ? { backend: "bubblewrap", env: process.env, docker: {}, setuid: "/usr/bin/su -c id" }
    : "bubblewrap is absent: apt-get install bubblewrap",
);
