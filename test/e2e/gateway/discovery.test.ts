// Announcement and discovery of gateways by multicast DNS, on the loopback interface only.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, describe, test } from "node:test";

import { GROUP, openMulticast, PORT } from "../../../src/gateway/discovery/multicast.ts";
import { announcementOf } from "../../../src/gateway/discovery/service.ts";
import { newCli, type Cli } from "../../harness/cli.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";

const here = { OPENCLAW_MDNS_INTERFACE: "127.0.0.1", OPENCLAW_DISABLE_BONJOUR: "" };
const noMulticast = await whyNoMulticast();

interface Listed {
  readonly gateways: { readonly name: string; readonly url: string; readonly text: Record<string, string> }[];
}

describe("discovery on the local network", { skip: noMulticast }, () => {
  let cli: Cli;
  let gateway: TestGateway;
  before(async () => {
    cli = newCli();
    gateway = await startGateway({ env: here });
  });
  after(async () => {
    await dispose(gateway);
    cli.dispose();
  });

  const discover = async (): Promise<Listed["gateways"]> => {
    const { stdout } = await cli.runWith(here, "gateway", "discover", "--timeout", "1500", "--json");
    return (JSON.parse(stdout) as Listed).gateways;
  };
  const ownIn = (list: Listed["gateways"], port: number) => list.find(({ url }) => url === `ws://127.0.0.1:${port}`);

  test("gateway discover lists a gateway with name and port, without path and SSH port", async () => {
    const found = ownIn(await discover(), gateway.port);
    assert.deepEqual(
      [found?.text["role"], found?.text["transport"], found?.text["gatewayPort"]],
      ["gateway", "gateway", String(gateway.port)],
    );
    assert.deepEqual([found?.text["cliPath"], found?.text["sshPort"]], [undefined, undefined]);
  });

  test("mode full adds the path of the command line and the SSH port; an ended gateway is gone", async () => {
    const full = await startGateway({ env: here, config: { discovery: { mdns: { mode: "full" } } } });
    const { port } = full;
    const found = ownIn(await discover(), port);
    assert.match(found?.text["cliPath"] ?? "", /openclaw/);
    assert.equal(found?.text["sshPort"], "22");
    await dispose(full);
    assert.equal(ownIn(await discover(), port), undefined);
  });

  test("mode off and OPENCLAW_DISABLE_BONJOUR=1 announce nothing", async () => {
    const silent = await Promise.all([
      startGateway({ env: here, config: { discovery: { mdns: { mode: "off" } } } }),
      startGateway({ env: { ...here, OPENCLAW_DISABLE_BONJOUR: "1" } }),
    ]);
    const list = await discover();
    assert.deepEqual(
      silent.map(({ port }) => ownIn(list, port)),
      [undefined, undefined],
    );
    await Promise.all(silent.map(dispose));
  });

  test("a foreign announcement is printed without control characters", async () => {
    const name = "evil \u001b]0;owned\u0007";
    const service = { name, host: "evil.local", port: 1, text: { displayName: "\u001b[2Jevil\nsecond line" } };
    const socket = await openMulticast({ address: "127.0.0.1", isNear: () => true }, PORT);
    socket.on("message", (_bytes, from) => {
      if (from.port !== PORT) socket.send(announcementOf(service, "127.0.0.1"), from.port, from.address);
    });
    const { stdout } = await cli.runWith(here, "gateway", "discover", "--timeout", "700");
    socket.close();
    assert.match(stdout, /evil/);
    assert.doesNotMatch(stdout, /[^\P{Cc}\n]|^second line/mu);
  });

  test("malformed packets do not disturb the gateway", async () => {
    const socket = createSocket("udp4");
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(12, 0xff), Buffer.from("c00c".repeat(20), "hex")])
      await new Promise((resolve) => socket.send(bytes, PORT, "127.0.0.1", resolve));
    socket.close();
    assert.notEqual(ownIn(await discover(), gateway.port), undefined);
  });

  test("gateway discover says what to set when nothing answers", async () => {
    const { code, stderr } = await cli.runWith(
      { OPENCLAW_MDNS_INTERFACE: "127.0.0.99" },
      "gateway",
      "discover",
      "--timeout",
      "1",
    );
    assert.equal(code, 1);
    assert.match(stderr, /gateway\.bind/);
  });
});

/** Sends itself one packet: some containers have no multicast on loopback. */
async function whyNoMulticast(): Promise<string | false> {
  try {
    const socket = await openMulticast({ address: "127.0.0.1", isNear: () => true }, PORT);
    try {
      return await new Promise<string | false>((resolve) => {
        const late = setTimeout(() => resolve("needs multicast on loopback"), 2000);
        socket.once("message", () => (clearTimeout(late), resolve(false)));
        socket.send(Buffer.from("probe"), PORT, GROUP);
      });
    } finally {
      socket.close();
    }
  } catch (error) {
    return `needs multicast on loopback: ${String(error)}`;
  }
}
