// Requests that are not HTTP as we read it: each gets an answer that says what is wrong, and the gateway serves on.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";

import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => dispose(gateway));

function exchange(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, "127.0.0.1");
    let got = "";
    socket.on("data", (chunk: Buffer) => (got += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(got));
    socket.write(bytes);
  });
}

const host = "host: 127.0.0.1\r\n";
const cases: [name: string, bytes: string | Buffer, status: number, words: RegExp][] = [
  ["rubbish", "hello gateway\r\n\r\n", 400, /malformed HTTP request: .*method/i],
  ["a method that does not exist", `BREW / HTTP/1.1\r\n${host}\r\n`, 400, /malformed HTTP request/],
  ["a header without a name", `GET / HTTP/1.1\r\n${host}: x\r\n\r\n`, 400, /malformed HTTP request: .*header/i],
  ["another version", `GET / HTTP/9.1\r\n${host}\r\n`, 400, /malformed HTTP request: .*version/i],
  [
    "two lengths",
    `POST /tools/invoke HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`,
    400,
    /malformed HTTP request: .*Content-Length/,
  ],
  [
    "a length and chunks",
    `POST /tools/invoke HTTP/1.1\r\n${host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    /malformed HTTP request/,
  ],
  ["headers without an end in sight", `GET / HTTP/1.1\r\n${host}x: ${"y".repeat(20_000)}\r\n\r\n`, 431, /16 KB/],
  ["a TLS handshake", Buffer.from("160301020001000200", "hex"), 400, /serves plain HTTP/],
  ["no Host header", "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n", 400, /exactly one Host header/],
  [
    "two Host headers",
    `GET /health HTTP/1.1\r\n${host}${host}connection: close\r\n\r\n`,
    400,
    /exactly one Host header/,
  ],
];

for (const [name, bytes, status, words] of cases) {
  test(`${name}: answered ${status} with the reason`, async () => {
    const answer = await exchange(bytes);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} \\S`));
    assert.match(head, /content-type: application\/json/i);
    assert.match(head, /x-content-type-options: nosniff/i);
    const { error } = JSON.parse(body) as { error: { message: string; type: string } };
    assert.match(error.message, words);
    assert.equal(error.type, "invalid_request_error");
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
  });
}

test("a malformed request after a good one on the same connection does not affect the good one's answer", async () => {
  const answer = await exchange(`GET /health HTTP/1.1\r\n${host}\r\nnonsense\r\n\r\n`);
  assert.match(answer, /^HTTP\/1\.1 200 OK[^]*\{"ok":true\}/);
});
