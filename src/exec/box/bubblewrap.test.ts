// The bubblewrap box against the shared cases, on this machine's own kernel.
import { existsSync } from "node:fs";

import { boxCases } from "../box.cases.ts";

boxCases("bubblewrap", async () =>
  existsSync("/usr/bin/bwrap")
    ? { backend: "bubblewrap", env: process.env, docker: {}, setuid: "/usr/bin/su -c id" }
    : "bubblewrap is absent: apt-get install bubblewrap",
);
