// SBX-026: no viewer page and no debugging port of a sandbox browser is ever open, whatever the config requests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { after, test } from "node:test";

import { createSandboxFixture } from "../../src/exec/sandbox.cases.ts";
import { noEngine, startEngine, type TestEngine } from "../harness/docker.ts";
import { dispose, freePort, invoke, openclaw, startGateway } from "../harness/gateway.ts";
import { noBubblewrap } from "../harness/sandbox.ts";

let engine: TestEngine | undefined;
after(() => engine?.stop());

interface Ports {
  readonly cdpPort: number;
  readonly vncPort: number;
  readonly noVncPort: number;
}

const asked = (ports: Ports): object => ({
  enabled: true,
  enableNoVnc: true,
  headless: false,
  allowHostControl: true,
  autoStart: true,
  ...ports,
});

async function freePorts(): Promise<Ports> {
  return { cdpPort: await freePort(), vncPort: await freePort(), noVncPort: await freePort() };
}

/** On every address of this machine that a listener could have. */
async function openPorts(ports: Ports): Promise<number[]> {
  const answers = (port: number, host: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ port, host });
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("close", () => socket.destroy());
    });
  const found = await Promise.all(
    Object.values(ports).map(async (port: number) =>
      (await Promise.all(["127.0.0.1", "::1"].map((host) => answers(port, host)))).includes(true) ? [port] : [],
    ),
  );
  return found.flat();
}

/** State 0A is a listener. */
const listeners = `cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A"' | wc -l; ls /sys/class/net 2>/dev/null`;

test("SBX-026 bubblewrap: no port is open inside or outside", { skip: noBubblewrap }, async (t) => {
  const ports = await freePorts();
  const sandbox = { mode: "all", backend: "bubblewrap", workspaceAccess: "rw", browser: asked(ports) };
  const gateway = await startGateway({ config: { agents: { defaults: { sandbox } } } });
  t.after(() => dispose(gateway));
  const { body } = await invoke(gateway, "exec", { command: listeners, yieldMs: 300_000 });
  const { result } = body as { result?: { details?: { aggregated?: string } } };
  assert.match(result?.details?.aggregated ?? "", /^0\n(?:lo)?\s*$/);
  assert.deepEqual(await openPorts(ports), []);
  const explained = await openclaw(gateway.home, ["sandbox", "explain", "--json"]);
  const { sandbox: said } = JSON.parse(explained.stdout) as { sandbox: { browser?: string } };
  assert.match(said.browser ?? "", /no port is opened$/);
  const audited = await openclaw(gateway.home, ["security", "audit", "--json"]);
  const ids = (JSON.parse(audited.stdout) as { findings: { id: string }[] }).findings.map(({ id }) => id);
  assert.ok(ids.includes("sandbox.host-browser"), ids.join());
});

test("SBX-026 docker: no port is published or exposed, and there is no network", async (t) => {
  const reason = noEngine();
  if (reason !== false) return t.skip(reason);
  const started = await startEngine();
  if (typeof started === "string") return t.skip(started);
  engine = started;
  const { env, image } = started;
  const ports = await freePorts();
  const setup = { backend: "docker", env: { ...process.env, ...env }, docker: { image }, setuid: "" } as const;
  const fixture = createSandboxFixture(setup, { browser: asked(ports) });
  try {
    assert.match((await fixture.run(listeners)).text, /^0\n(?:lo)?\s*$/);
    const docker = (...words: string[]): string =>
      execFileSync("docker", words, { env: { ...process.env, ...env }, encoding: "utf8" });
    const names = docker("ps", "-a", "--format", "{{.Names}}").trim().split("\n");
    const { name } = await fixture.sandbox();
    assert.deepEqual(names, [name], "one container, none of a browser");
    const [{ HostConfig, Config, NetworkSettings }] = JSON.parse(docker("inspect", name)) as [
      {
        HostConfig: { NetworkMode: string; PortBindings: object | null; PublishAllPorts: boolean };
        Config: { ExposedPorts?: object };
        NetworkSettings: { Ports?: object | null };
      },
    ];
    assert.deepEqual(
      {
        network: HostConfig.NetworkMode,
        bindings: HostConfig.PortBindings ?? {},
        all: HostConfig.PublishAllPorts,
        exposed: Config.ExposedPorts ?? {},
        ports: NetworkSettings.Ports ?? {},
      },
      { network: "none", bindings: {}, all: false, exposed: {}, ports: {} },
    );
    assert.deepEqual(await openPorts(ports), []);
  } finally {
    await fixture.close();
  }
});
