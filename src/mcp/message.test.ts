// Whatever arrives is a request, a notification or a refusal; nothing throws, and headers never speak for another body.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { readMessage, result, RPC } from "./message.ts";

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
      const read = readMessage(value, claims);
      if ("status" in read) assert.ok([200, 202, 400].includes(read.status));
      else assert.equal(typeof read.method, "string");
    }),
  );
});

test("a request that states its revision is read only when every header agrees with it", () => {
  const said = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  fc.assert(
    fc.property(anyMethod, anyName, anyClaims, (method, name, claims) => {
      const read = readMessage({ jsonrpc: "2.0", id: 1, method, params: { name, _meta: said } }, claims);
      const agrees =
        (claims.revision ?? "2026-07-28") === "2026-07-28" &&
        (claims.method ?? method) === method &&
        (method !== "tools/call" || (claims.name ?? name) === name);
      assert.equal(!("status" in read), agrees);
    }),
  );
});

test("a result says that it is whole only to who knows the word", () => {
  const request = { id: 7, method: "ping", params: {} };
  assert.deepEqual(result({ ...request, revision: undefined }, { a: 1 }), {
    status: 200,
    body: { jsonrpc: "2.0", id: 7, result: { a: 1 } },
  });
  assert.deepEqual(result({ ...request, revision: "2026-07-28" }, { a: 1 }), {
    status: 200,
    body: { jsonrpc: "2.0", id: 7, result: { resultType: "complete", a: 1 } },
  });
});

test("revisions nobody speaks are refused with those that are", () => {
  const read = readMessage({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { revision: "1999-01-01" });
  assert.deepEqual(read, {
    status: 400,
    body: {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: RPC.badRevision,
        message: "this revision of MCP is not spoken here: 1999-01-01",
        data: {
          supported: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
          requested: "1999-01-01",
        },
      },
    },
  });
});
