// The owner's commands for web access: explain a URL, set up search.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startFakeDns, type FakeDns } from "../../fakes/dns.ts";
import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";

let dns: FakeDns;
let cli: Cli;
before(async () => {
  dns = await startFakeDns({ "nas.test": ["192.168.1.20"], "site.test": ["93.184.216.34"] });
  cli = newCli('{ gateway: { mode: "local" }, tools: { web: { allowPrivateHosts: ["box.test", "192.168.7.0/24"] } } }');
});
after(async () => {
  cli.dispose();
  await dns.close();
});

const explain = (url: string, ...more: string[]) =>
  cli.runWith({ OPENCLAW_DNS_SERVER: dns.address }, "tools", "explain", "web_fetch", "--url", url, ...more);

test("tools explain web_fetch --url says what the guard would do and why", async () => {
  const blocked = wellEnded(await explain("http://nas.test:8080/x"));
  assert.match(blocked, /Guard for outgoing requests: blocked/);
  assert.match(blocked, /Addresses {2}192\.168\.1\.20/);
  assert.match(blocked, /private or internal address \(nas\.test is 192\.168\.1\.20\) \[guard\.private-address\]/);
  assert.match(blocked, /openclaw config set tools\.web\.allowPrivateHosts/);
  assert.match(wellEnded(await explain("http://site.test/")), /allowed[^]*every address of the host is public/);
  assert.match(
    wellEnded(await explain("http://192.168.7.3/")),
    /Exception {2}tools\.web\.allowPrivateHosts: 192\.168\.7\.0\/24/,
  );
  const json = JSON.parse(wellEnded(await explain("file:///etc/passwd", "--json"))) as { guard: { code: string } };
  assert.equal(json.guard.code, "guard.scheme");
  assert.equal((await explain("http://127.0.0.1/", "--check")).code, 1);
  assert.equal((await explain("http://site.test/", "--check")).code, 0);
});

test("configure --section web stores provider, key and address", async () => {
  const set = (...pairs: string[]) =>
    cli.run("configure", "--section", "web", ...pairs.flatMap((pair) => ["--set", pair]));
  wellEnded(await set("tools.web.search.provider=brave", "tools.web.search.apiKey=key-0123456789"));
  wellEnded(await set("tools.web.search.provider=searxng", "tools.web.search.searxng.baseUrl=http://127.0.0.1:8888"));
  wellEnded(await set("tools.web.fetch.firecrawl.apiKey=fc-0123456789"));
  const { web } = JSON.parse(wellEnded(await cli.run("config", "get", "tools", "--json", "--show-secrets"))) as {
    web: { search: { provider: string; apiKey: string; searxng: object }; fetch: { firecrawl: { apiKey: string } } };
  };
  assert.deepEqual(
    [web.search.provider, web.search.apiKey, web.search.searxng, web.fetch.firecrawl.apiKey],
    ["searxng", "key-0123456789", { baseUrl: "http://127.0.0.1:8888" }, "fc-0123456789"],
  );
  const wrong = await set("tools.web.search.provider=altavista");
  assert.match(wrong.stderr, /tools\.web\.search\.provider must be one of brave, perplexity, duckduckgo, searxng/);
});

test("an entry of allowPrivateHosts that names no host is refused", async () => {
  const set = (value: string) => cli.run("config", "set", "tools.web.allowPrivateHosts", value);
  for (const entry of ["*", "http://nas.local/", "a b", "nas.local:port", ""])
    assert.notEqual((await set(JSON.stringify([entry]))).code, 0, entry);
  wellEnded(await set('["nas.local", "*.lab.example:80", "10.1.2.3:8080", "fd00::1", "[fd00::1]:81", "10.0.0.0/8"]'));
});
