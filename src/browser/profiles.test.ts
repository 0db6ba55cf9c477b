// Ports of browser profiles, and debugging URLs without their credentials.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isLoopback, maskUrl, portsOf, profilesOf } from "./profiles.ts";

test("browsers of the default gateway have the ports 18800 to 18899", () => {
  assert.deepEqual(portsOf(), { control: 18_791, relay: 18_792, firstCdp: 18_800, lastCdp: 18_899 });
});

test("openclaw and chrome exist without config, and chrome is the default", () => {
  const profiles = profilesOf({}, portsOf());
  assert.deepEqual(
    profiles.map(({ name, kind, cdpPort, isDefault }) => [name, kind, cdpPort, isDefault]),
    [
      ["openclaw", "managed", 18_800, false],
      ["chrome", "relay", 18_792, true],
    ],
  );
});

test("a debugging URL is shown without user, password, query values and long path parts", () => {
  assert.equal(maskUrl("http://127.0.0.1:9222"), "http://127.0.0.1:9222");
  assert.equal(maskUrl("https://ann:pw@far.test/?token=abc"), "https://***@far.test?token=***");
  assert.equal(maskUrl("wss://far.test/0123456789abcdef0123/devtools"), "wss://far.test/***/devtools");
  assert.equal(maskUrl("not a url"), "***");
});

test("a name that starts like a loopback address is another machine", () => {
  for (const host of ["127.0.0.1", "127.8.9.10", "localhost", "[::1]"])
    assert.ok(isLoopback(`http://${host}:9222`), host);
  for (const host of ["127.0.0.1.far.test", "127.far.test", "localhost.far.test", "10.0.0.1"])
    assert.equal(isLoopback(`http://${host}:9222`), false, host);
});
