// Every attack of the areas that exist is either a named test here or waits, with a reason, for the part it is about.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { noShared, root, shared } from "../harness/gateway.ts";

const waiting: Readonly<Record<string, string>> = {};

test(
  "no attack on approvals, cron, fs, apply_patch, gateway, memory, policy, process, sandbox, secrets or sessions is unaccounted for",
  { skip: noShared },
  (t) => {
    const corpus = JSON.parse(readFileSync(join(shared, "attack", "corpus.json"), "utf8")) as {
      id: string;
      area: string;
    }[];
    const wanted = corpus
      .filter(({ area }) =>
        ["approvals", "cron", "gateway", "memory", "policy", "process", "sandbox", "secrets", "sessions"].includes(
          area,
        ),
      )
      .map(({ id }) => id);
    const tests = globSync("{src,test}/**/*.{test,cases}.ts", { cwd: root }).filter(
      (path) => !path.endsWith("coverage.test.ts"),
    );
    const text = [...tests, "test/conformance/policy.json"]
      .map((path) => readFileSync(join(root, path), "utf8"))
      .join("\n");
    const missing = wanted.filter((id) => !text.includes(id) && !(id in waiting));
    assert.deepEqual(missing, []);
    t.diagnostic(
      `${wanted.length - wanted.filter((id) => id in waiting).length} attacks tested by name, ${wanted.filter((id) => id in waiting).length} wait for parts that do not exist; exec, fs and apply_patch cases run from the corpus itself`,
    );
  },
);
