// apply_patch under attack, through the HTTP door of a real gateway: our own table, its mutants, and the shared corpus.
import assert from "node:assert/strict";
import { existsSync, globSync, lstatSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { dispose, invoke, operator, startGateway, type TestGateway } from "../harness/gateway.ts";
import { readCases } from "./corpus.ts";
import { pathMutators } from "./fs.cases.ts";
import { fillPatch, layPatchFiles, patchCases, type PatchCase } from "./patch.cases.ts";

interface Answer {
  readonly ok: boolean;
  readonly error?: {
    readonly message: string;
    readonly details?: { readonly code?: string; readonly refused?: boolean };
  };
}

// Paths outside the workspace are open for write and edit here: a patch stays inside all the same.
for (const workspaceOnly of [false, true]) {
  describe(`patches with tools.fs.workspaceOnly ${workspaceOnly}`, () => {
    let gateway: TestGateway;
    let places: Record<"WS" | "OUT" | "STATE" | "HOME", string>;
    before(async () => {
      gateway = await startGateway({
        config: {
          agents: { defaults: { model: { primary: "openai/gpt-5.2" } } },
          tools: { fs: { workspaceOnly }, exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2"] } } },
        },
      });
      const { home, state, workspace } = gateway;
      places = { WS: workspace, OUT: `${workspace}-evil`, STATE: state, HOME: home };
    });
    after(() => dispose(gateway));

    const relay = (): void => {
      for (const folder of [places.WS, places.OUT]) rmSync(folder, { recursive: true, force: true });
      layPatchFiles({ ws: places.WS, out: places.OUT });
    };
    const send = async (input: string): Promise<Answer> =>
      (await invoke(gateway, "apply_patch", { input })).body as Answer;

    const attack = (attempt: PatchCase): void => {
      test(`${attempt.id} ${attempt.why}: ${attempt.expect}`, { timeout: 300_000 }, async () => {
        relay();
        const [fixture, outside] = [treeOf(places.WS), outsideOf(places)];
        const answer = await send(fillPatch(attempt.patch, places));
        assert.deepEqual(outsideOf(places), outside);
        if (attempt.expect === "allow") return assert.ok(answer.ok, JSON.stringify(answer));
        assert.equal(answer.ok, false);
        if (attempt.expect === "deny") assert.equal(answer.error?.details?.refused, true, JSON.stringify(answer));
        assert.match(answer.error?.details?.code ?? "", /^(?:fs|patch|tool)\.(?!bug)[a-z-]+$/);
        assert.deepEqual(treeOf(places.WS), fixture);
      });
    };

    for (const attempt of patchCases) attack(attempt);
    for (const attempt of corpusCases()) attack(attempt);

    test(
      "mutations of every refused case change no file outside and create no protected file",
      { timeout: 900_000 },
      async () => {
        relay();
        const outside = outsideOf(places);
        let tried = 0;
        for (const { patch, expect, id } of patchCases) {
          if (expect !== "deny") continue;
          for (const [name, mutate] of Object.entries(pathMutators)) {
            const mutant = fillPatch(patch, places).replaceAll(
              /^(\*\*\* (?:Add File|Update File|Delete File|Move to): )(.*)$/gm,
              (_all, header: string, path: string) =>
                header + (path === "ok.txt" || path === "good.txt" ? path : mutate(path)),
            );
            await send(mutant);
            tried += 1;
            assert.deepEqual(outsideOf(places), outside, `${id} ${name}`);
            assert.deepEqual(globSync("**/{.git,.envrc,.vscode}{,/**}", { cwd: places.WS }), [], `${id} ${name}`);
          }
        }
        assert.ok(tried > 400, String(tried));
      },
    );

    test("records every refusal in the journal", async () => {
      const admin = await operator(gateway);
      await send(fillPatch("*** Add File: ../x\n+x", places));
      const { entries } = await admin.call("tools.journal", { limit: 1 });
      admin.end();
      const [entry] = entries;
      const intent = entry?.intent as { does: string } | undefined;
      assert.deepEqual([entry?.tool, entry?.outcome, intent?.does], ["apply_patch", "refused", "write"]);
    });
  });
}

test("offers no apply_patch when it is disabled or the model does not support it", async () => {
  for (const config of [
    { agents: { defaults: { model: { primary: "openai/gpt-5.2" } } } },
    {
      agents: { defaults: { model: { primary: "anthropic/claude-sonnet-4-5" } } },
      tools: { exec: { applyPatch: { enabled: true } } },
    },
    {
      agents: { defaults: { model: { primary: "openai/gpt-5.2" } } },
      tools: { exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.1"] } } },
    },
    {
      agents: { defaults: { model: { primary: "openai/gpt-5.2" } } },
      tools: { exec: { applyPatch: { enabled: true } }, deny: ["apply-patch"] },
    },
  ]) {
    const gateway = await startGateway({ config });
    const { status, body } = await invoke(gateway, "apply_patch", {
      input: "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch",
    });
    assert.deepEqual([status, (body as Answer).error?.message], [404, "Tool not available: apply_patch"]);
    assert.equal(existsSync(join(gateway.workspace, "x")), false);
    await dispose(gateway);
  }
});

test("appendix B 24: a read-only workspace has no write, edit or apply_patch, with reason and fix", async () => {
  const gateway = await startGateway({
    config: {
      agents: {
        defaults: { model: { primary: "openai/gpt-5.2" }, sandbox: { mode: "all", workspaceAccess: "ro" } },
      },
      tools: { exec: { applyPatch: { enabled: true } } },
    },
  });
  for (const [tool, args] of [
    ["write", { path: "x", content: "x" }],
    ["edit", { path: "x", oldText: "a", newText: "b" }],
    ["apply_patch", { input: "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch" }],
  ] as const) {
    const { status, body } = await invoke(gateway, tool, args);
    const { message, details } = (body as { error: { message: string; details: Record<string, unknown> } }).error;
    assert.deepEqual([status, message], [404, `Tool not available: ${tool}`]);
    assert.equal(details["code"], "tool.unavailable");
    assert.match(String(details["reason"]), /workspaceAccess is ro/);
    assert.equal(details["hint"], "openclaw config set agents.defaults.sandbox.workspaceAccess rw");
  }
  assert.equal(existsSync(join(gateway.workspace, "x")), false);
  await dispose(gateway);
});

/** Names, links and contents; a temp file or a new folder would show. */
function treeOf(root: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .toSorted()
      .map((path) => {
        const stats = lstatSync(join(root, path));
        if (stats.isFile()) return [path, readFileSync(join(root, path), "latin1")];
        return [path, stats.isDirectory() ? "/" : "->"];
      }),
  );
}

/** The canary: everything around the workspace that a patch could want. */
function outsideOf({ OUT, STATE, HOME }: Readonly<Record<"OUT" | "STATE" | "HOME", string>>): unknown {
  return {
    out: treeOf(OUT),
    config: readFileSync(join(STATE, "openclaw.json"), "utf8"),
    // The gateway's own copies, for an undo and while a patch is applied, are no harm.
    state: readdirSync(STATE)
      .filter((name) => !/^(?:undo|unfinished|.*-(?:wal|shm))$/.test(name))
      .toSorted(),
    home: readdirSync(HOME).toSorted(),
    cron: existsSync("/etc/cron.d/evil") || existsSync("/etc/x") || existsSync("/etc/new"),
  };
}

/** `<100000 files>` stands for the rest of the list; the door itself takes no more than this. */
function corpusCases(): PatchCase[] {
  const many = Array.from({ length: 60_000 }, (_, at) => `*** Add File: f${at + 3}\n+x`).join("\n");
  return readCases<{ params: { input: string } }>("cases")
    .filter(({ area }) => area === "apply_patch")
    .map(({ id, input, expect, claim }) => ({
      id,
      expect: expect as PatchCase["expect"],
      why: claim,
      patch: input.params.input.replace("<100000 files>", many),
    }));
}
