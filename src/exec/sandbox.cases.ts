// What every sandbox must do and must prevent, tested with real commands.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { AgentId, SessionKey } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import type { SandboxBackend } from "../core/sandbox-backend.ts";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import type { Sandbox } from "./sandbox.ts";
import { sandboxShell } from "./sandbox/shell.ts";
import { createSandboxes, type Sandboxes } from "./sandboxes.ts";
import { createStartRun } from "./start-run.ts";

type SandboxConfig = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;

export interface BackendSetup {
  readonly backend: SandboxBackend;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly docker: NonNullable<SandboxConfig["docker"]>;
  /** A program inside that is setuid root and prints its user ids when called with `id`. */
  readonly setuid?: string;
}

export interface SandboxFixture {
  readonly home: string;
  readonly workspace: string;
  readonly sandboxes: Sandboxes;
  readonly warnings: string[];
  sandbox(session?: string): Promise<Sandbox>;
  /** Runs in the given sandbox, or in that of the main session. */
  run(command: string, more?: RunMore): Promise<Ran>;
  close(): Promise<void>;
}

interface RunMore {
  readonly sandbox?: Sandbox;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly tty?: boolean;
  readonly timeoutMs?: number;
  readonly pathPrepend?: readonly string[];
}

export interface Ran {
  readonly code: number | null;
  readonly notes: readonly string[];
  readonly text: string;
  readonly reason?: string | undefined;
}

const AGENT = "main" as AgentId;

interface FixtureOptions {
  readonly workspace?: "home";
  /** The same folders, as if the gateway had started again. */
  readonly beside?: SandboxFixture;
}

/** A state folder, a workspace and sandboxes with the given settings. */
export function createSandboxFixture(
  setup: BackendSetup,
  sandbox: SandboxConfig = {},
  options: FixtureOptions = {},
): SandboxFixture {
  const home = options.beside?.home ?? mkdtempSync(join(tmpdir(), "openclaw-sandbox-"));
  const state = join(home, ".openclaw");
  const workspace = options.workspace === "home" ? home : join(state, "work space,1");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const warnings: string[] = [];
  const log: Log = {
    error: (message) => void warnings.push(message),
    warn: (message, facts) => void warnings.push(`${message} ${JSON.stringify(facts)}`),
    info: () => undefined,
    debug: () => undefined,
    child: () => log,
  };
  const paths: Paths = { home, state, config: join(state, "openclaw.json"), product: "openclaw", profile: undefined };
  const config: Config = {
    agents: {
      defaults: {
        sandbox: {
          mode: "all",
          workspaceAccess: "rw",
          backend: setup.backend,
          ...sandbox,
          docker: {
            ...setup.docker,
            containerPrefix: `oc-${process.pid}-${home.slice(-6).toLowerCase()}-`,
            ...sandbox.docker,
          },
        },
      },
    },
  };
  const sandboxes = createSandboxes({
    paths,
    env: { ...setup.env, HOME: home },
    config: () => config,
    log,
    clock: systemClock,
    workspaceOf: () => workspace,
  });
  const engine = createStartRun({ folder: join(home, "runs"), clock: systemClock, log, graceMs: 300 });
  const open = (session = "agent:main:main"): Promise<Sandbox> =>
    sandboxes.of({ agent: AGENT, session: session as SessionKey });
  return {
    home,
    workspace,
    sandboxes,
    warnings,
    sandbox: open,
    async run(command, more = {}) {
      const sandbox = more.sandbox ?? (await open());
      const shell = sandboxShell({
        command,
        env: more.env ?? {},
        pathPrepend: more.pathPrepend ?? [],
        sandboxEnv: sandbox.env,
      });
      const launch = await sandbox.launch({ ...shell, cwd: more.cwd ?? sandbox.workdir, tty: more.tty ?? false });
      const running = await engine.start({
        pipeline: [{ launch }],
        ...(more.tty === true ? { tty: { columns: 97, rows: 31 } } : {}),
        timeoutMs: more.timeoutMs ?? 60_000,
      });
      if (more.input !== undefined) await running.write(Buffer.from(more.input));
      if (more.tty !== true) await running.closeInput();
      const { code, reason } = await running.ended;
      const notes = (await launch.notes) ?? [];
      return { code, notes, text: running.output.tail(100_000).trim(), reason };
    },
    async close() {
      await engine.close();
      const names = (await sandboxes.list()).map(({ name }) => name);
      if (names.length > 0) await sandboxes.recreate({ all: true });
      await sandboxes.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function sandboxCases(title: string, makeSetup: () => Promise<BackendSetup | string>): void {
  describe(title, () => {
    let setup: BackendSetup | undefined;
    let reason = "";
    let fixture: SandboxFixture;

    before(async () => {
      const made = await makeSetup();
      if (typeof made === "string") {
        reason = made;
        return;
      }
      setup = made;
      fixture = createSandboxFixture(made);
    });
    after(async () => {
      if (setup !== undefined) await fixture.close();
    });

    const check = (name: string, body: (t: TestContext, setup: BackendSetup) => Promise<void>): void => {
      test(name, async (t) => {
        if (setup === undefined) t.skip(reason);
        else await body(t, setup);
      });
    };
    const withFixture = async (
      sandbox: SandboxConfig,
      body: (fixture: SandboxFixture) => Promise<void>,
      options: FixtureOptions = {},
    ): Promise<void> => {
      if (setup === undefined) throw new Error("the setup was checked");
      const own = createSandboxFixture(setup, sandbox, options);
      try {
        await body(own);
      } finally {
        await own.close();
      }
    };

    check("returns output and exit code", async () => {
      const { code, text } = await fixture.run("echo out; echo err >&2; exit 7");
      assert.deepEqual({ code, lines: text.split("\n").sort() }, { code: 7, lines: ["err", "out"] });
    });

    check("passes input to the command", async () => {
      assert.equal((await fixture.run("cat; echo end", { input: "one\ntwo\n" })).text, "one\ntwo\nend");
    });

    check("passes the variables of the call but none of the gateway", async () => {
      process.env["BOX_CANARY"] = "of the host";
      const { text } = await fixture.run('echo "[$GIVEN]"; env', {
        env: { GIVEN: `a b'"$x\nsecond line`, LD_LIBRARY_PATH: "/nowhere" },
      });
      delete process.env["BOX_CANARY"];
      assert.match(text, /^\[a b'"\$x\nsecond line\]/);
      assert.match(text, /^LD_LIBRARY_PATH=\/nowhere$/m);
      assert.doesNotMatch(text, /BOX_CANARY|of the host|DOCKER_HOST/);
      assert.match(text, /^HOME=\/home\/sandbox$/m);
    });

    check("sets configured variables; those of the call override them", async () => {
      await withFixture({ docker: { env: { ONE: "config", TWO: "config" } } }, async (own) => {
        assert.equal((await own.run('echo "$ONE $TWO"', { env: { TWO: "call" } })).text, "config call");
      });
    });

    check("puts a PATH of the call and of the config first, after the profile", async () => {
      await withFixture({ docker: { env: { PATH: "/from/config:/usr/bin:/bin" } } }, async (own) => {
        const { text } = await own.run("echo $PATH; echo [$OPENCLAW_PATH_PREFIX]", {
          env: { PATH: "/from/call" },
          pathPrepend: ["/$(id)/x"],
        });
        assert.match(text, /^\/\$\(id\)\/x:\/from\/call:\/from\/config:/);
        assert.match(text, /\n\[\]$/);
      });
    });

    check("starts in the workspace or in a given folder", async () => {
      mkdirSync(join(fixture.workspace, "sub"), { recursive: true });
      assert.equal((await fixture.run("pwd")).text, "/workspace");
      assert.equal((await fixture.run("pwd", { cwd: "/workspace/sub" })).text, "/workspace/sub");
    });

    check("shares files with the host through the workspace", async () => {
      writeFileSync(join(fixture.workspace, "outside.txt"), "from outside");
      assert.equal((await fixture.run("cat outside.txt; echo inside > inside.txt")).text, "from outside");
      assert.equal(readFileSync(join(fixture.workspace, "inside.txt"), "utf8"), "inside\n");
      const sandbox = await fixture.sandbox();
      assert.deepEqual(sandbox.mounts[0], { inside: "/workspace", host: fixture.workspace, writable: true });
    });

    check("shows nothing else of the host", async () => {
      writeFileSync(join(fixture.home, "canary.txt"), "CANARY-HOST");
      writeFileSync(join(fixture.home, ".openclaw", "openclaw.json"), "CANARY-CONFIG");
      const state = join(fixture.home, ".openclaw", "openclaw.json");
      const { text } = await fixture.run(
        `cat '${join(fixture.home, "canary.txt")}' '${state}' /etc/shadow ~root/.ssh/id_rsa 2>&1; ls /workspace/.. ; cat "$PWD/../.openclaw/openclaw.json" 2>&1; find / -xdev -name openclaw.json 2>/dev/null | head`,
      );
      assert.doesNotMatch(text, /CANARY|root:[$*!]/);
    });

    check("hides the state folder inside a workspace that contains it", async () => {
      await withFixture(
        {},
        async (own) => {
          writeFileSync(join(own.home, ".openclaw", "openclaw.json"), "CANARY-CONFIG");
          mkdirSync(join(own.home, ".ssh"));
          writeFileSync(join(own.home, ".ssh", "id_rsa"), "CANARY-KEY");
          const { text } = await own.run(
            "ls -A .openclaw .ssh; cat .openclaw/openclaw.json .ssh/id_rsa 2>&1; echo x > .openclaw/x; echo x >> .bashrc; touch .profile-not",
          );
          assert.doesNotMatch(text, /CANARY/);
          assert.equal(existsSync(join(own.home, ".openclaw", "x")), false);
          assert.equal(
            existsSync(join(own.home, ".bashrc")) && readFileSync(join(own.home, ".bashrc"), "utf8") !== "",
            false,
          );
        },
        { workspace: "home" },
      );
    });

    check("has no network and no socket of the host", async () => {
      const servers = await listenEverywhere(fixture.home);
      try {
        const { text } = await fixture.run(
          `cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '; echo routes $(tail -n +2 /proc/net/route | wc -l); echo six $(grep -vc ' lo$' /proc/net/if_inet6 2>/dev/null); cat /proc/net/unix; ls ${fixture.home}/host.sock 2>&1; cat /etc/resolv.conf`,
        );
        assert.match(text, /^lo\nroutes 0$/m);
        assert.doesNotMatch(text, /openclaw-abstract|\/host\.sock\n/);
      } finally {
        for (const server of servers) server.close();
      }
    });

    check("cannot gain rights: no capabilities, no new privileges, no setuid", async (t, { setuid }) => {
      const { text } = await fixture.run(
        "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'",
      );
      assert.match(text, /NoNewPrivs:1/);
      assert.match(text, /CapEff:0000000000000000/);
      assert.match(text, /CapBnd:0000000000000000/);
      assert.match(text, /Seccomp:2/);
      if (setuid === undefined) t.diagnostic("this setup has no setuid program");
      else assert.doesNotMatch((await fixture.run(`${setuid} 2>&1`)).text, /euid=0/);
    });

    check("cannot control the machine through /proc and /sys", async () => {
      const { text } = await fixture.run(
        "for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper /proc/1/oom_score_adj; do test -w $f && (echo probe >> $f) 2>/dev/null && echo wrote $f; done; echo done",
      );
      assert.equal(text.replace("wrote /proc/1/oom_score_adj\n", ""), "done");
      assert.notEqual(readFileSync("/proc/sys/kernel/core_pattern", "utf8").trim(), "probe");
    });

    check("sees only its own processes", async () => {
      const { text } = await fixture.run(
        `tr '\\0' ' ' < /proc/1/cmdline; echo; ls -d /proc/[0-9]* | wc -l; ls -A /proc/1/root${fixture.home} 2>&1; ls /proc/${process.pid}/root 2>&1; cat /proc/${process.pid}/environ /proc/${process.pid}/mem 2>&1 | head -c 200`,
      );
      assert.doesNotMatch(text, /node|work space/);
      assert.ok(Number(/^\d+$/m.exec(text)?.[0]) < 20, text);
    });

    check("has a read-only system", async () => {
      const { text } = await fixture.run(
        "for f in /x /usr/x /etc/x /bin/x; do (echo x > $f) 2>/dev/null && echo wrote $f; done; rm -f /bin/sh /etc/passwd 2>/dev/null; test -e /bin/sh && test -e /etc/passwd && echo kept",
      );
      assert.equal(text, "kept");
    });

    check("keeps its own temporary files and home between commands", async () => {
      const mine = join(tmpdir(), `openclaw-host-${process.pid}`);
      writeFileSync(mine, "CANARY");
      try {
        assert.equal((await fixture.run(`cat ${mine} 2>/dev/null; echo kept > /tmp/own; echo home > ~/own`)).text, "");
        assert.equal((await fixture.run("cat /tmp/own ~/own")).text, "kept\nhome");
        assert.equal(existsSync("/tmp/own"), false);
      } finally {
        rmSync(mine);
      }
    });

    check("cannot write names that other programs obey, even missing ones", async () => {
      await withFixture({}, async (own) => {
        mkdirSync(join(own.workspace, ".git", "hooks"), { recursive: true });
        writeFileSync(join(own.workspace, ".git", "config"), "[core]\n");
        mkdirSync(join(own.workspace, ".claude"));
        writeFileSync(join(own.workspace, ".claude", "settings.json"), "{}");
        const tries = [
          "echo x > .git/config",
          "echo x > .git/hooks/pre-commit",
          "mv .git gone",
          "rm -rf .git",
          "echo x > .envrc",
          "rm -f .envrc; ln -s /workspace/evil .envrc",
          "mkdir -p .vscode && echo x > .vscode/tasks.json",
          "echo x > .mcp.json",
          "mv .claude other && mkdir .claude && echo x > .claude/settings.json",
          "mkdir -p .claude/hooks && echo x > .claude/hooks/a",
          "mkdir -p .cursor && echo x > .cursor/mcp.json",
        ];
        for (const line of tries) await own.run(`(${line}) 2>/dev/null; echo`);
        assert.equal((await own.run("cat .git/config; echo work > .github; echo fine > notes.md")).text, "[core]");
        const read = (path: string): string =>
          existsSync(join(own.workspace, path)) ? readFileSync(join(own.workspace, path), "utf8") : "";
        assert.deepEqual(
          [
            ".git/config",
            ".git/hooks/pre-commit",
            ".envrc",
            ".vscode/tasks.json",
            ".claude/settings.json",
            ".claude/hooks/a",
            ".cursor/mcp.json",
          ].map(read),
          ["[core]\n", "", "", "", "{}", "", ""],
        );
        assert.notEqual(read(".mcp.json"), "x\n");
        await own.sandboxes.close();
        assert.deepEqual(readdirSync(own.workspace).sort(), [".claude", ".git", ".github", "notes.md"]);
        assert.deepEqual(readdirSync(join(own.workspace, ".git")).sort(), ["config", "hooks"]);
      });
    });

    check("with gitWrite can commit in a repository but not change what git obeys", async () => {
      await withFixture({ gitWrite: true }, async (own) => {
        const git = join(own.workspace, ".git");
        mkdirSync(git);
        writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n");
        writeFileSync(join(git, "config"), "[core]\n");
        const nested = join(own.workspace, "deep", "repo", ".git");
        mkdirSync(nested, { recursive: true });
        writeFileSync(join(nested, "HEAD"), "ref: refs/heads/main\n");
        writeFileSync(join(nested, "config"), "[core]\n");
        const tries = [
          "echo x > .git/config",
          "rm -f .git/config; echo x > .git/config",
          "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
          "echo /evil > .git/commondir",
          "echo x > .git/config.worktree",
          "echo x > deep/repo/.git/config",
          "mkdir -p deep/repo/.git/hooks; echo x > deep/repo/.git/hooks/post-checkout",
          "mv deep other; mkdir -p deep/repo/.git; echo x > deep/repo/.git/config",
          "mkdir -p .git/modules/a; echo x > .git/modules/a/config",
          "mv .git gone; mkdir .git; echo x > .git/config",
        ];
        for (const line of tries) await own.run(`(${line}) 2>/dev/null; echo`);
        const write = "for r in .git deep/repo/.git; do echo new > $r/index; cat $r/index $r/config; done";
        assert.equal((await own.run(write)).text, "new\n[core]\nnew\n[core]");
        await own.sandboxes.close();
        for (const folder of [git, nested]) {
          assert.deepEqual(readdirSync(folder).sort(), ["HEAD", "config", "index"]);
          assert.equal(readFileSync(join(folder, "config"), "utf8"), "[core]\n");
        }
      });
    });

    check(
      "sees every git folder of the workspace read-only, and the owner's git runs nothing afterwards",
      async (t) => {
        if (noGit !== false) return t.skip(noGit);
        await withFixture({}, async (own) => {
          const owner = ownersGit(own);
          createRepositories(own, owner);
          const evil = `[core]\n\tfsmonitor = "touch ${owner.canary}; false"\n\thooksPath = /workspace/evil-hooks\n`;
          writeFileSync(join(own.workspace, "evil"), evil);
          const folders = [".git", "nested/repo/.git", "store.git", ".git/worktrees/tree", ".git/modules/sub"];
          const tries = [
            ...folders.flatMap((folder) => [
              `cp evil ${folder}/config`,
              `cp evil ${folder}/config.worktree`,
              `rm -f ${folder}/config; cp evil ${folder}/config`,
              `mkdir -p ${folder}/hooks && cp evil ${folder}/hooks/post-index-change`,
              `mkdir -p ${folder}/rebase-merge && echo 'exec touch ${owner.canary}' > ${folder}/rebase-merge/git-rebase-todo`,
              `mkdir -p ${folder}/info && echo '* filter=x' > ${folder}/info/attributes`,
              `echo /workspace/evil > ${folder}/commondir`,
              `echo x > ${folder}/index`,
              `rm -rf ${folder}`,
            ]),
            "mv nested elsewhere && mkdir -p nested/repo && cp -r elsewhere/repo/.git nested/repo/.git && cp evil nested/repo/.git/config",
            "echo 'gitdir: /workspace/evil-git' > tree/.git",
            "rm tree/.git && echo 'gitdir: ../evil-git' > tree/.git",
            "mkdir -p empty/sub/.git && cp evil empty/sub/.git/config",
            "mv empty gone && mkdir -p empty/sub/.git && cp evil empty/sub/.git/config",
          ];
          const before = snapshot(own.workspace, [...folders, "tree/.git", "empty"]);
          for (const folder of folders) assert.ok(existsSync(join(own.workspace, folder, "HEAD")), folder);
          await own.run(`${tries.map((line) => `(${line}) 2>/dev/null`).join("; ")}; true`);
          await own.sandboxes.close();
          assert.deepEqual(snapshot(own.workspace, [...folders, "tree/.git", "empty"]), before);
          owner.everyday();
          assert.equal(existsSync(owner.canary), false);
          writeFileSync(join(own.workspace, "nested/repo/.git/config"), evil);
          owner.git("nested/repo", "status");
          assert.ok(existsSync(owner.canary), "the trap works");
        });
      },
    );

    check("sets aside a git folder made inside that would run programs outside, and keeps a plain one", async (t) => {
      if (noGit !== false) return t.skip(noGit);
      await withFixture({}, async (own) => {
        const owner = ownersGit(own);
        createRepositories(own, owner);
        const core = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n`;
        writeFileSync(join(own.workspace, "plain"), core);
        writeFileSync(join(own.workspace, "evil"), `${core}\tfsmonitor = "touch ${owner.canary}; false"\n`);
        const make = (folder: string, config: string): string =>
          `mkdir -p ${folder}/objects ${folder}/refs && echo 'ref: refs/heads/main' > ${folder}/HEAD && cp ${config} ${folder}/config`;
        const { notes } = await own.run(
          [
            make("fine/.git", "plain"),
            make("bad/.git", "evil"),
            make("in/node_modules/x/.git", "evil"),
            make("bare.git", "evil"),
            make("fine2/.git", "plain") + " && mkdir fine2/.git/hooks && cp evil fine2/.git/hooks/post-index-change",
            make("steps/.git", "plain") + " && mkdir steps/.git/rebase-merge",
            make("shown/HEADS", "evil") + " && echo 'gitdir: HEADS' > shown/.git",
            make("behind/.git", "evil") + " && chmod 0311 behind",
            make("deep/.git/inside/.git", "evil") + " && " + make("deep/.git", "plain"),
            make("later/.git", "plain") +
              " && mv later/.git/config later/settings && ln -s ../settings later/.git/config",
            make("hooked/.git", "plain") + " && mkdir hooked/hooks && ln -s ../hooks hooked/.git/hooks",
            make("split/.git", "plain") +
              " && mkdir -p split/data/objects split/data/refs && echo ../data > split/.git/commondir",
            "mkdir linked && ln -s ../shown/HEADS linked/.git",
          ].join(" && "),
        );
        const aside = [
          "bad/.git",
          "in/node_modules/x/.git",
          "bare.git",
          "fine2/.git",
          "steps/.git",
          "shown/HEADS",
          "behind/.git",
        ];
        for (const folder of [...aside, "deep/.git/inside/.git", "later/.git", "hooked/.git", "split/.git"])
          assert.deepEqual(
            ["HEAD", "HEAD.set-aside"].map((name) => existsSync(join(own.workspace, folder, name))),
            [false, true],
            folder,
          );
        assert.ok(existsSync(join(own.workspace, "fine/.git/HEAD")), "a plain one stays");
        assert.ok(
          notes.some((note) => /bad\/\.git: core\.fsmonitor.*HEAD is now HEAD\.set-aside/.test(note)),
          notes.join("\n"),
        );
        owner.everyday();
        for (const folder of [
          "bad",
          "in/node_modules/x",
          "bare.git",
          "fine2",
          "steps",
          "shown",
          "linked",
          "behind",
          "deep/.git/inside",
          "fine",
        ])
          owner.git(folder, "status");
        owner.git(".", "add", "-A");
        owner.git(".", "status");
        assert.equal(existsSync(owner.canary), false);
        // A plain git folder is protected from now on.
        await own.run("cp evil fine/.git/config 2>/dev/null; true");
        owner.git("fine", "status");
        assert.equal(existsSync(owner.canary), false);
      });
    });

    check("a running command cannot swap a folder to have another one mounted", async () => {
      await withFixture({}, async (own) => {
        mkdirSync(join(own.home, "outside"));
        writeFileSync(join(own.home, "outside", "secret"), "CANARY");
        const sandbox = await own.sandbox();
        const slow = own.run(
          `mkdir -p x/.git/objects x/.git/refs y; echo 'ref: refs/heads/main' > x/.git/HEAD; echo made > made; while [ ! -e stop ]; do mv x z; ln -s '${join(own.home, "outside")}' x; rm x; mv z x; done`,
          { sandbox },
        );
        while (!existsSync(join(own.workspace, "made"))) await wait(20);
        for (let round = 0; round < 8; round += 1) {
          const { text } = await own.run("cat x/secret 2>/dev/null; grep -c /workspace/x /proc/self/mountinfo; true", {
            sandbox,
          });
          assert.equal(text, "0");
        }
        writeFileSync(join(own.workspace, "stop"), "");
        await slow;
      });
    });

    check("rejects a protected name that is a link", async () => {
      await withFixture({}, async (own) => {
        const { symlinkSync } = await import("node:fs");
        symlinkSync("/etc", join(own.workspace, ".vscode"));
        await assert.rejects(own.run("true"), { code: "sandbox.unsafe-link" });
      });
    });

    check("ends a command with everything it started", async () => {
      const mark = `31${process.pid}`;
      const { reason } = await fixture.run(
        `(sleep ${mark}1 &) ; setsid sleep ${mark}2 & nohup env -i sleep ${mark}3 & sleep ${mark}4`,
        { timeoutMs: 1500 },
      );
      assert.equal(reason, "timeout");
      assert.deepEqual(await left(`sleep\0${mark}`), []);
    });

    check("survives a fork bomb without leftover processes", async (t) => {
      await withFixture({ docker: { pidsLimit: 48 } }, async (own) => {
        const { code, reason, text } = await own.run(
          "f() { f | f & }; f; sleep 1; i=0; while [ $i -lt 200 ]; do sleep 32123 & i=$((i+1)); done; wait",
          { timeoutMs: 6000 },
        );
        assert.ok(code !== 0 || reason === "timeout");
        assert.match(text, /fork|resource|Cannot|can't/i);
        assert.deepEqual(await left("sleep\u000032123"), []);
        t.diagnostic(`ended with ${code ?? reason}`);
      });
    });

    check("fails a command that uses too much memory", async () => {
      await withFixture({ docker: { memory: "64m" } }, async (own) => {
        const { code } = await own.run("x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo ${#x}");
        assert.notEqual(code, 0);
      });
    });

    check("fails a command that writes too large a file", async () => {
      await withFixture({ docker: { ulimits: { fsize: 1_048_576 } } }, async (own) => {
        const { text } = await own.run("head -c 5000000 /dev/zero > /tmp/big; echo code $?; wc -c < /tmp/big");
        assert.doesNotMatch(text, /code 0/);
        assert.match(text, /^1048576$/m);
      });
    });

    check("runs the setup command once, also for calls at the same time", async () => {
      await withFixture(
        { docker: { setupCommand: ["echo ran >> /workspace/setup.log", "sleep 0.2"] } },
        async (own) => {
          const sandbox = await own.sandbox();
          await Promise.all([own.run("true", { sandbox }), own.run("true", { sandbox }), own.run("true", { sandbox })]);
          await own.run("true");
          assert.equal(readFileSync(join(own.workspace, "setup.log"), "utf8"), "ran\n");
        },
      );
    });

    check("fails a command when the setup command fails, with its output", async () => {
      await withFixture({ docker: { setupCommand: "echo no such luck; exit 3" } }, async (own) => {
        await assert.rejects(own.run("echo never > ran"), (error: unknown) => {
          assert.ok(error instanceof OpenClawError);
          assert.equal(error.code, "sandbox.setup-failed");
          assert.match(error.message, /no such luck/);
          return true;
        });
        assert.equal(existsSync(join(own.workspace, "ran")), false);
      });
    });

    check("with read-only access shows the agent's workspace at /agent and has its own", async () => {
      await withFixture({ workspaceAccess: "ro" }, async (own) => {
        writeFileSync(join(own.workspace, "notes.md"), "the agent's");
        assert.equal(
          (await own.run("cat /agent/notes.md; echo x > own.txt; (echo x > /agent/new) 2>/dev/null || echo refused"))
            .text,
          "the agent'srefused",
        );
        const sandboxPaths = own.sandboxes.pathsOf({ agent: AGENT, session: "agent:main:main" as SessionKey });
        assert.deepEqual(
          readdirSync(sandboxPaths.workspace),
          ["own.txt"].concat(readdirSync(sandboxPaths.workspace).filter((name) => name !== "own.txt")).sort(),
        );
        assert.equal(sandboxPaths.agentWorkspace, own.workspace);
        assert.equal(sandboxPaths.writable, false);
        assert.equal(existsSync(join(own.workspace, "new")), false);
      });
    });

    check("without access hides the agent's workspace", async () => {
      await withFixture({ workspaceAccess: "none" }, async (own) => {
        writeFileSync(join(own.workspace, "notes.md"), "CANARY");
        assert.equal(
          (await own.run("ls /agent 2>/dev/null; cat notes.md 2>/dev/null; echo x > own.txt; echo ok")).text,
          "ok",
        );
        const sandboxPaths = own.sandboxes.pathsOf({ agent: AGENT, session: "agent:main:main" as SessionKey });
        assert.equal(readFileSync(join(sandboxPaths.workspace, "own.txt"), "utf8"), "x\n");
      });
    });

    check("separates sessions with scope session, and shares with scope agent", async () => {
      await withFixture({ scope: "session", workspaceAccess: "none" }, async (own) => {
        await own.run("echo one > /workspace/a; echo one > ~/a", { sandbox: await own.sandbox("agent:main:one") });
        const { text } = await own.run("ls /workspace ~", { sandbox: await own.sandbox("agent:main:two") });
        assert.doesNotMatch(text, /^a$/m);
        assert.equal((await own.sandboxes.list()).length, 2);
      });
    });

    check("mounts folders of the owner, read-only where configured", async () => {
      const extra = mkdtempSync(join(tmpdir(), "openclaw-bind-"));
      chmodSync(extra, 0o755);
      writeFileSync(join(extra, "book"), "a book");
      try {
        await withFixture({ docker: { binds: [`${extra}:/books:ro`, `${extra}:/desk`] } }, async (own) => {
          assert.equal(
            (await own.run("cat /books/book; (echo x > /books/new) 2>/dev/null || echo ' kept'; echo y > /desk/new"))
              .text,
            "a book kept",
          );
          assert.equal(readFileSync(join(extra, "new"), "utf8"), "y\n");
        });
      } finally {
        rmSync(extra, { recursive: true });
      }
    });

    check("provides a terminal", async () => {
      const { text } = await fixture.run("tty; test -t 1 && echo terminal; echo $TERM", { tty: true });
      assert.match(text, /^\/dev\/(pts\/\d+|console)\s+terminal\s+xterm-256color$/);
    });

    check("lists sandboxes; recreating one starts fresh but keeps the workspace", async () => {
      await withFixture({}, async (own) => {
        await own.run("echo old > ~/state; echo kept > file");
        const [listed, ...others] = await own.sandboxes.list();
        assert.deepEqual(others, []);
        assert.deepEqual(
          {
            agent: listed?.agent,
            backend: listed?.backend,
            scopeKey: listed?.scopeKey,
            matchesConfig: listed?.matchesConfig,
          },
          { agent: "main", backend: setup?.backend, scopeKey: "agent:main", matchesConfig: true },
        );
        assert.deepEqual(await own.sandboxes.recreate({ agent: "other" }), []);
        assert.deepEqual(await own.sandboxes.recreate({ agent: "main" }), [listed?.name]);
        assert.equal((await own.run("cat ~/state 2>/dev/null; cat file")).text, "kept");
      });
    });
  });
}

const noGit: string | false = spawnSync("git", ["--version"]).status === 0 ? false : "needs git";

interface OwnersGit {
  readonly canary: string;
  /** Outside, as the owner would; its own failures do not count. */
  readonly git: (folder: string, ...args: string[]) => void;
  /** What an owner does next. */
  everyday(): void;
}

function ownersGit({ home, workspace }: SandboxFixture): OwnersGit {
  const git = (folder: string, ...args: string[]): void => {
    const words = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always", ...args];
    const env = { PATH: process.env["PATH"], HOME: home, GIT_EDITOR: "true", GIT_CONFIG_NOSYSTEM: "1" };
    spawnSync("git", words, { cwd: join(workspace, folder), env, stdio: "ignore" });
  };
  const lines = [
    "status",
    "diff",
    "add -A",
    "stash",
    "stash pop",
    "rebase --continue",
    "sparse-checkout init --cone",
    "sparse-checkout disable",
    "submodule status",
    "checkout -b topic",
    "commit --allow-empty -m next",
    "gc --auto",
  ];
  return {
    canary: join(home, "canary"),
    git,
    everyday() {
      for (const folder of [".", "nested/repo", "tree", "sub"])
        for (const line of lines) git(folder, ...line.split(" "));
    },
  };
}

/** One at the top with a worktree, a submodule and an empty link; one below, and a bare one. */
function createRepositories({ workspace }: SandboxFixture, { git }: OwnersGit): void {
  for (const folder of ["nested/repo", "empty/sub"]) mkdirSync(join(workspace, folder), { recursive: true });
  writeFileSync(join(workspace, "notes.md"), "x\n");
  git(".", "init", "-q", "-b", "main");
  git(".", "add", "notes.md");
  git(".", "commit", "-qm", "x");
  git("nested/repo", "init", "-q");
  git("nested/repo", "commit", "-q", "--allow-empty", "-m", "x");
  git(".", "init", "-q", "--bare", "store.git");
  git("nested/repo", "push", "-q", "../../store.git", "HEAD:refs/heads/main");
  git(".", "worktree", "add", "-q", "tree");
  git(".", "submodule", "add", "-q", "-b", "main", "./store.git", "sub");
  git(".", "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},empty/sub`);
  git(".", "commit", "-qm", "links");
}

/** Every file below, with its content. */
function snapshot(workspace: string, folders: readonly string[]): Record<string, string> {
  const paths = folders.flatMap((folder) => {
    const path = join(workspace, folder);
    if (!existsSync(path)) return [];
    if (!lstatSync(path).isDirectory()) return [folder];
    const below = readdirSync(path, { recursive: true, withFileTypes: true });
    return below
      .filter((entry) => entry.isFile())
      .map((entry) => relative(workspace, join(entry.parentPath, entry.name)));
  });
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(workspace, path), "latin1")]));
}

async function listenEverywhere(home: string): Promise<Server[]> {
  const listen = (where: string): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.end("CANARY"));
      server.once("error", reject);
      server.listen(where, () => resolve(server));
    });
  return [await listen(join(home, "host.sock")), await listen(`\0openclaw-abstract-${process.pid}`)];
}

/** What is left after a while, since a separate engine needs time. */
async function left(text: string): Promise<string[]> {
  for (let tries = 0; tries < 600 && processesWith(text).length > 0; tries += 1) await wait(100);
  return processesWith(text);
}

/** Processes of this machine and its sandboxes whose command line contains the text. */
function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false; // it ended during the scan
      }
    });
}
