// Answers that must fit into one frame.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { fitFrame } from "./fit-frame.ts";

describe("an answer in a frame", () => {
  const answer = (stdout: string, stderr = ""): { id: string; payload: { stdout: string; stderr: string } } => ({
    id: "x",
    payload: { stdout, stderr },
  });
  test("leaves short answers and other payloads unchanged", () => {
    for (const given of [answer("short"), { id: "x", payload: { bins: "y".repeat(9000) } }])
      assert.equal(fitFrame(given, 8000), given);
  });
  test("keeps the end of long output in whole characters", () => {
    for (const entry of ["x", "€", "😀", '"', "\n"]) {
      const cut = fitFrame(answer(`${entry.repeat(9000)}end`, entry.repeat(5000)), 8000);
      assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= 8000, entry);
      assert.ok(cut.payload.stdout.endsWith("end") && cut.payload.stdout.isWellFormed());
      assert.equal("truncated" in cut.payload, true);
    }
  });
});
