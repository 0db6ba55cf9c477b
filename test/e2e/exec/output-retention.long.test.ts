// How long a finished background command stays readable, with the shortest time that the config allows: one minute.
import { test } from "node:test";

import { exec, gatewayFor, proc, until } from "../../harness/exec.ts";

test("removes a finished background command after tools.exec.cleanupMs", async (t) => {
  const gateway = await gatewayFor(t, { config: { tools: { exec: { cleanupMs: 60_000 } } } });
  const { details } = await exec(gateway, { command: "echo over", background: true });
  const log = () => proc(gateway, { action: "log", sessionId: details["sessionId"] });
  await until(log, ({ text }) => text.includes("over"));
  await until(log, ({ error }) => error !== undefined, 180_000);
});
