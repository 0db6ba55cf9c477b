// Whatever arrives is a request, a notification or a refusal; nothing throws, and headers never speak for another body.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { encodeHeader, readBatch, readMessage, result, RPC, type RpcAnswer, type RpcRequest } from "./message.ts";

const META = "io.modelcontextprotocol/";
const codeOf = ({ body }: RpcAnswer): number | undefined => (body as { error?: { code: number } }).error?.code;

const anyMethod = fc.constantFrom("tools/call", "tools/list", "ping");
const anyName = fc.constantFrom("read", "exec");
const anyClaims = fc.record(
  {
    revision: fc.constantFrom("2026-07-28", "2025-11-25", "x"),
    method: anyMethod,
    name: anyName,
  },
  { requiredKeys: [] },
);

test("any JSON value is answered or read, never thrown at", () => {
  fc.assert(
    fc.property(fc.jsonValue(), anyClaims, (value, claims) => {
      const batch = readBatch(value, claims);
      const read = batch === undefined ? readMessage(value, claims) : batch;
      if ("replyTo" in read) assert.ok(read.result === undefined || read.error === undefined);
      else if ("status" in read) assert.ok([200, 202, 400].includes(read.status));
      else assert.ok(Array.isArray(read) || typeof (read as RpcRequest).method === "string");
    }),
  );
});

const meta = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} };

test("reads a request that states its revision only when every required header is there and agrees", () => {
  fc.assert(
    fc.property(anyMethod, anyName, anyClaims, (method, name, claims) => {
      const read = readMessage({ jsonrpc: "2.0", id: 1, method, params: { name, _meta: meta } }, claims);
      const agrees =
        claims.revision === "2026-07-28" &&
        claims.method === method &&
        (method !== "tools/call" || claims.name === name);
      assert.equal(!("status" in read), agrees);
      if ("status" in read) assert.deepEqual([read.status, codeOf(read)], [400, RPC.headerMismatch]);
    }),
  );
});

test("decodes any name that a client encodes for a header", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", minLength: 1 }).map((text) => text.toWellFormed()),
      (name) => {
        const encoded = encodeHeader(name);
        assert.match(encoded, /^[\x20-\x7e]+$/);
        const claims = { revision: "2026-07-28", method: "tools/call", name: encoded };
        const read = readMessage(
          { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, _meta: meta } },
          claims,
        );
        assert.ok(!("status" in read), JSON.stringify(read));
      },
    ),
  );
});

for (const [title, fields] of [
  ["without capabilities", { [`${META}protocolVersion`]: "2026-07-28" }],
  ["with capabilities that are no object", { ...meta, [`${META}clientCapabilities`]: [] }],
  ["with a revision only in the header", {}],
  ["with a revision that is no string", { ...meta, [`${META}protocolVersion`]: undefined }],
] as const)
  test(`refuses a request ${title} as invalid params with status 400`, () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: fields } };
    const read = readMessage(body, { revision: "2026-07-28", method: "tools/list" });
    assert.ok("status" in read);
    assert.deepEqual([read.status, codeOf(read)], [400, RPC.badParams]);
  });

test("refuses ids that are neither strings nor integers", () => {
  for (const id of [1.5, null, true, {}, [], 2 ** 53]) {
    const read = readMessage({ jsonrpc: "2.0", id, method: "ping" }, {});
    assert.ok("status" in read);
    assert.deepEqual([read.status, codeOf(read)], [400, RPC.invalid], JSON.stringify(id));
  }
});

test("takes batches only in the revision that has them, and never with initialize", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  assert.deepEqual(readBatch([ping], {}), [ping]);
  assert.deepEqual(readBatch([ping], { revision: "2025-03-26" }), [ping]);
  assert.equal(readBatch(ping, {}), undefined);
  const refused: readonly [unknown, string | undefined][] = [
    [[ping], "2025-06-18"],
    [[ping], "2026-07-28"],
    [[], undefined],
    [[{ ...ping, method: "initialize" }], undefined],
    [[{ ...ping, params: { _meta: meta } }], undefined],
    [Array.from({ length: 51 }, () => ping), undefined],
  ];
  for (const [value, revision] of refused) {
    const read = readBatch(value, { revision });
    assert.ok(read !== undefined && "status" in read);
    assert.deepEqual([read.status, codeOf(read)], [400, RPC.invalid]);
  }
});

test("states that a result is whole, and who gave it, only since 2026-07-28", () => {
  const request = { id: 7, method: "ping", params: {} };
  const info = { name: "openclaw", version: "1" };
  assert.deepEqual(result({ ...request, revision: undefined }, { a: 1 }, info), {
    status: 200,
    body: { jsonrpc: "2.0", id: 7, result: { a: 1 } },
  });
  assert.deepEqual(result({ ...request, revision: "2026-07-28" }, { a: 1 }, info), {
    status: 200,
    body: { jsonrpc: "2.0", id: 7, result: { resultType: "complete", a: 1, _meta: { [`${META}serverInfo`]: info } } },
  });
});

test("refuses an unknown revision with the known ones", () => {
  const read = readMessage({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { revision: "1999-01-01" });
  assert.deepEqual(read, {
    status: 400,
    body: {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: RPC.badRevision,
        message: "unsupported protocol version: 1999-01-01",
        data: {
          supported: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
          requested: "1999-01-01",
        },
      },
    },
  });
});
