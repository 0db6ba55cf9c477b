// Starts that fail under a supervisor: at most three tries, then repair mode with the reason, and an automatic start once fixed.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { dispose, freePort, openclaw, root, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { configFile, holdPort, isUp } from "../../harness/restart.ts";

const gateways: TestGateway[] = [];
after(async () => {
  for (const gateway of gateways) await dispose(gateway);
});

for (const [what, breakIt] of [
  ["an invalid config", (text: string) => text.replace('"mode": "local"', '"mode": "local", "prot": 1')],
  ["no gateway.mode", (text: string) => text.replace('"mode": "local",', "")],
  [
    "a bind that this machine does not have",
    (text: string) => text.replace('"mode": "local",', '"mode": "local", "bind": "tailnet",'),
  ],
] as const) {
  test(`${what} under a supervisor: three starts, then repair mode with the reason; starts by itself once fixed`, async () => {
    const gateway = await stopped();
    const good = readFileSync(configFile(gateway), "utf8");
    writeFileSync(configFile(gateway), breakIt(good));
    const supervisor = supervise(gateway.home);
    try {
      await until(supervisor.output, (text) => /repair mode/.test(text));
      assert.equal(supervisor.runs(), 3);
      const sign = await until(() => fetch(`${gateway.url}/health`).catch(() => undefined), Boolean);
      assert.equal(sign?.status, 503);
      const said = (await sign?.json()) as Record<string, unknown>;
      assert.equal(said["repair"], true);
      assert.match(String(said["reason"]), /^(?:config|gateway)\./);
      const { stdout } = await openclaw(gateway.home, ["doctor"]);
      assert.match(stdout, /failed to start 3 times recently/);
      if (what === "an invalid config") {
        const status = await openclaw(gateway.home, ["gateway", "status"]);
        assert.match(status.stdout, /Start +failed 3 times recently: [\s\S]*gateway\.prot/);
        assert.equal(status.code, 1);
      }
      await sleep(500);
      assert.equal(supervisor.runs(), 3, "no loop");
      writeFileSync(configFile(gateway), good);
      await until(() => isUp(gateway.url), Boolean);
      assert.equal(supervisor.runs(), 3, "the same process");
      assert.equal(existsSync(join(gateway.state, "start-failures.json")), false);
    } finally {
      await supervisor.stop();
    }
  });
}

test("a port taken by something else under a supervisor: three starts, then it waits", async () => {
  const gateway = await stopped();
  const held = await holdPort(gateway.port);
  const supervisor = supervise(gateway.home);
  try {
    await until(supervisor.output, (text) => /repair mode, the gateway did not start: another gateway/.test(text));
    await sleep(700);
    assert.equal(supervisor.runs(), 3);
    const free = await freePort();
    writeFileSync(
      configFile(gateway),
      readFileSync(configFile(gateway), "utf8").replace(String(gateway.port), String(free)),
    );
    await until(() => isUp(`http://127.0.0.1:${free}`), Boolean);
  } finally {
    await supervisor.stop();
    await held.free();
  }
});

/** A home that a gateway ran in once, and runs in no more. */
async function stopped(): Promise<TestGateway> {
  const gateway = await startGateway({ config: {} });
  gateways.push(gateway);
  await gateway.stop();
  return gateway;
}

/** `openclaw gateway run` started again whenever it ends, as a supervisor would. */
function supervise(home: string): {
  readonly runs: () => number;
  readonly output: () => string;
  stop(): Promise<void>;
} {
  let [runs, output, stopped] = [0, "", false];
  let child: ChildProcess | undefined;
  const again = (): void => {
    if (stopped) return;
    runs += 1;
    const own = spawn(process.execPath, [join(root, "openclaw.mjs"), "gateway", "run"], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = own;
    own.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    own.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    own.on("exit", () => setTimeout(again, 50));
  };
  again();
  return {
    runs: () => runs,
    output: () => output,
    async stop() {
      stopped = true;
      const ended = new Promise((resolve) => child?.on("exit", resolve));
      child?.kill("SIGKILL");
      await ended;
    },
  };
}
