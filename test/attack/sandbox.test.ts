// Attacks on the sandbox of a real gateway with canaries: from inside, through its settings, and through other paths.
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { until } from "../harness/exec.ts";
import { dispose, invoke, startGateway, tempHome, type TestGateway } from "../harness/gateway.ts";
import { noBubblewrap } from "../harness/sandbox.ts";

const CANARY = "CANARY-7f3a";

interface Answer {
  readonly ok: boolean;
  readonly text: string;
  readonly code: string | undefined;
}

async function call(gateway: TestGateway, tool: string, args: object): Promise<Answer> {
  const body = (await invoke(gateway, tool, args)).body as {
    ok: boolean;
    result?: { content?: { text?: string }[]; details?: Record<string, unknown> };
    error?: { message: string; details?: { code?: string } };
  };
  const said = (body.result?.content ?? []).map(({ text = "" }) => text).join("\n");
  return { ok: body.ok, text: `${said}${body.error?.message ?? ""}`, code: body.error?.details?.code };
}

const sandboxed = (sandbox: object = {}): object => ({
  agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw", backend: "bubblewrap", ...sandbox } } },
});

describe("inside a sandbox of a running gateway", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  let home: string;
  let sockets: Server[];
  // The whole answer is checked, so commands never continue in the background, even on a slow machine.
  const exec = (command: string, more: object = {}): Promise<Answer> =>
    call(gateway, "exec", { command, yieldMs: 300_000, ...more });

  before(async () => {
    home = tempHome();
    writeFileSync(join(home, "secret.txt"), CANARY);
    mkdirSync(join(home, ".ssh"));
    writeFileSync(join(home, ".ssh", "id_rsa"), CANARY);
    writeFileSync(join(home, "handed-down"), CANARY);
    // The gateway may have inherited open files that commands must not see.
    const open = `exec 9<>"$HOME/handed-down"${existsSync("/bin/bash") ? ' 77<>"$HOME/handed-down"' : ""}; exec "$@"`;
    gateway = await startGateway({
      home,
      config: sandboxed() as Record<string, unknown>,
      env: { SECRET_OF_THE_GATEWAY: CANARY },
      under: [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", "-c", open, "sh"],
    });
    sockets = await listen(join(home, "host.sock"), `\0openclaw-attack-${process.pid}`);
  });
  after(async () => {
    for (const socket of sockets) socket.close();
    await dispose(gateway);
  });

  test("runs a command", async () => {
    const { ok, text } = await exec("pwd; echo hello > made.txt; id -u");
    assert.ok(ok, text);
    assert.match(text, /\/workspace\n1000/);
    assert.equal(readFileSync(join(gateway.workspace, "made.txt"), "utf8"), "hello\n");
  });

  test("SBX-014 file tools outside do not follow a link written inside", async () => {
    await exec(
      `ln -s ${join(home, "secret.txt")} leak; ln -s ${home} out; ln -s /etc/passwd p; ln -s ../secret.txt up`,
    );
    for (const path of ["leak", "out/secret.txt", "p", "up", "/workspace/leak"]) {
      const read = await call(gateway, "read", { path });
      assert.equal(read.ok, false, path);
      assert.doesNotMatch(read.text, new RegExp(CANARY));
    }
    const written = await call(gateway, "write", { path: "out/planted.txt", content: "x" });
    assert.equal(written.ok, false);
    assert.equal(existsSync(join(home, "planted.txt")), false);
    const through = await call(gateway, "write", { path: "leak", content: "x" });
    assert.equal(readFileSync(join(home, "secret.txt"), "utf8"), CANARY, through.text);
  });

  test("SBX-014 nor a link swapped in while a host tool works", async () => {
    const racing = exec(
      `mkdir -p d; echo fine > d/f; end=$(( $(date +%s) + 3 )); while [ $(date +%s) -lt $end ]; do mv d e; ln -s ${home} d; rm d; mv e d; done`,
    );
    for (let round = 0; round < 60; round += 1) {
      await call(gateway, "write", { path: "d/secret.txt", content: "overwritten" });
      const read = await call(gateway, "read", { path: "d/secret.txt" });
      assert.doesNotMatch(read.text, new RegExp(CANARY));
    }
    await racing;
    assert.equal(readFileSync(join(home, "secret.txt"), "utf8"), CANARY);
  });

  test("SBX-016 cannot write settings and protected names from inside", async () => {
    const config = readFileSync(join(gateway.state, "openclaw.json"), "utf8");
    await exec(
      `for f in ${gateway.state}/openclaw.json ${gateway.state}/exec-approvals.json ../openclaw.json /workspace/../openclaw.json ~/.openclaw/openclaw.json; do mkdir -p $(dirname $f) 2>/dev/null; echo '{}' > $f; done; mkdir -p .claude && echo x > .claude/settings.json; mkdir -p .git/hooks && echo x > .git/hooks/post-checkout; echo x > .mcp.json`,
    );
    assert.equal(readFileSync(join(gateway.state, "openclaw.json"), "utf8"), config);
    const approvals = join(gateway.state, "exec-approvals.json");
    assert.equal(existsSync(approvals) && readFileSync(approvals, "utf8") === "{}\n", false);
    for (const path of [".claude/settings.json", ".git/hooks/post-checkout"])
      assert.equal(existsSync(join(gateway.workspace, path)), false);
    const { ok } = await call(gateway, "exec", { command: "true" });
    assert.ok(ok);
  });

  test("SBX-018 SBX-019 reaches no metadata service, name server, gateway or socket of the host", async () => {
    const { text } = await exec(
      `perl -e '${connectScript}' 169.254.169.254:80 127.0.0.1:${gateway.port} 8.8.8.8:53 unix:${join(home, "host.sock")} abstract:openclaw-attack-${process.pid}; getent hosts example.com || echo "no names"; ping -c1 -W1 127.0.0.2 >/dev/null 2>&1 || echo "no ping"`,
    );
    assert.doesNotMatch(text, /reached|CANARY/);
    assert.match(text, /no names/);
    assert.equal(text.match(/closed /g)?.length, 5, text);
  });

  test("SBX-019 cannot use socket families that bypass the network namespace", async () => {
    const { text } = await exec(
      `perl -e 'for my $f (16, 17, 31, 38, 40, 44) { print "$f ", socket(my $s, $f, 3, $f == 16 ? 12 : 0) ? "open" : "closed", "\\n" }'`,
    );
    assert.doesNotMatch(text, /open/);
    assert.equal(text.match(/closed/g)?.length, 6);
  });

  test("SBX-020 a fork bomb ends in an error, and the gateway still answers", async () => {
    const { text } = await exec(`f() { f | f & }; f; sleep 1; for i in $(seq 1 900); do sleep 60 & done; echo end`, {
      timeout: 10,
    });
    assert.match(text, /fork|resource|timed out|Cannot/i);
    assert.ok((await exec("echo alive")).text.includes("alive"));
  });

  test("SBX-020 a temporary file of ten gigabytes ends in an error", async () => {
    const { text } = await exec(
      "dd if=/dev/zero of=/tmp/big bs=1M seek=4094 count=20 2>&1 | tail -n 2; rm -f /tmp/big; fallocate -l 10G /tmp/big 2>&1; ls -s /tmp",
    );
    assert.match(text, /too large|File size limit/i);
  });

  test("SBX-020 a busy loop ends at its time limit", async () => {
    const { text } = await exec("while :; do :; done", { timeout: 1 });
    assert.match(text, /time|signal|kill/i);
  });

  test("SBX-021 a setuid program gives no rights", async () => {
    const { text } = await exec(
      `ls -l /usr/bin/su /usr/bin/passwd 2>&1 | head; su -c id root </dev/null 2>&1; grep NoNewPrivs /proc/self/status; cp /bin/sh ./rootsh; chmod u+s ./rootsh; ./rootsh -p -c 'id -u; id -ru'`,
    );
    assert.match(text, /NoNewPrivs:\s*1/);
    assert.doesNotMatch(text, /uid=0\(root\)|^0$/m);
  });

  test("SBX-021 cannot create a setuid program by any call that sets a mode", async () => {
    const { text } = await exec(
      `cp /bin/true lent; chmod u+s lent; chmod 6755 lent; chmod g+s lent; install -m 4755 /bin/true lent2; perl -e 'use Fcntl; sysopen(my $f, "lent3", O_CREAT | O_WRONLY, 06755); syscall(133, "lent4", 0104755, 0); chmod 04711, "lent"'; python3 -c 'import os; os.close(os.open("lent5", os.O_CREAT | os.O_WRONLY, 0o4755))'; chmod 755 lent; mkdir -m 1777 shared; echo done`,
    );
    assert.match(text, /done/);
    const modes = readdirSync(gateway.workspace).map((name) => lstatSync(join(gateway.workspace, name)).mode & 0o6000);
    assert.deepEqual(
      modes.filter((bits) => bits !== 0),
      [],
    );
    assert.equal(lstatSync(join(gateway.workspace, "lent")).mode & 0o7777, 0o755);
  });

  test("has no open file of the gateway, over pipes or in a terminal", async () => {
    for (const pty of [false, true]) {
      const { text } = await exec("ls /proc/self/fd | tr '\\n' ' '; echo; ls -l /proc/[0-9]*/fd 2>/dev/null", { pty });
      assert.match(text, /^0 1 2 3 \r?\n/, text); // 3 is the list itself
      assert.doesNotMatch(text, /handed-down/);
    }
  });

  test("SBX-022 cannot reach the gateway's processes and memory", async () => {
    const { text } = await exec(
      `ls /proc/1/root/root /proc/1/root${home} 2>&1; cat /proc/${gateway.pid}/environ /proc/${gateway.pid}/maps 2>&1; for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/environ; done | grep -c SECRET_OF; kill -0 ${gateway.pid} 2>&1; echo end`,
    );
    assert.doesNotMatch(text, new RegExp(CANARY));
    assert.match(text, /^0$/m);
  });

  test("SBX-013 a call that asks for the host stays inside", async () => {
    const { text, ok } = await exec(`cat ${join(home, "secret.txt")}`, { host: "gateway" });
    assert.ok(!ok || /not/.test(text), text);
    assert.doesNotMatch(text, new RegExp(CANARY));
    const elevated = await exec(`cat ${join(home, "secret.txt")}`, { elevated: true });
    assert.doesNotMatch(elevated.text, new RegExp(CANARY));
  });

  test("rejects a working folder outside", async () => {
    for (const workdir of [home, "/root", "/proc/1/root", "../..", "/workspace/../../etc"]) {
      const { text } = await exec("ls; cat secret.txt", { workdir });
      assert.doesNotMatch(text, new RegExp(CANARY), workdir);
    }
  });

  test("variables of the call do not affect the program that builds the sandbox", async () => {
    const marker = join(home, "steered");
    await exec(`echo 'touch ${marker}' > evil.sh`);
    const evil = join(gateway.workspace, "evil.sh");
    for (const env of [
      { ENV: evil },
      { BASH_ENV: evil },
      { LD_PRELOAD: join(gateway.workspace, "evil.so") },
      { PS4: `$(touch ${marker})`, SHELLOPTS: "xtrace" },
      { PATH: gateway.workspace },
    ]) {
      await exec("true", { env });
    }
    assert.equal(existsSync(marker), false);
  });

  test("leaves no placeholder in the workspace", async () => {
    await exec("rm -rf * ; true");
    await until(
      () => readdirSync(gateway.workspace).filter((name) => [".git", ".vscode", ".mcp.json", "venv"].includes(name)),
      (left) => left.length === 0,
    );
  });
});

describe("settings that would open the sandbox", { skip: noBubblewrap }, () => {
  const cases: readonly { readonly name: string; readonly docker: (home: string) => object }[] = [
    { name: "SBX-001 the whole disk", docker: () => ({ binds: ["/:/h"] }) },
    { name: "SBX-002 the engine's socket", docker: () => ({ binds: ["/var/run/docker.sock:/s"] }) },
    { name: "SBX-002 the folder of that socket", docker: () => ({ binds: ["/var/run:/r"] }) },
    { name: "SBX-004 a parent of what is closed", docker: () => ({ binds: ["/var:/v:ro"] }) },
    { name: "SBX-004 a link to what is closed", docker: (home) => ({ binds: [`${home}/link:/l`] }) },
    { name: "SBX-006 the state folder", docker: (home) => ({ binds: [`${home}/.openclaw:/state:ro`] }) },
    { name: "SBX-008 another container's network", docker: () => ({ network: "container:abc" }) },
    { name: "SBX-008 the host's network", docker: () => ({ network: "host" }) },
    { name: "SBX-010 an option as image", docker: () => ({ image: "--privileged" }) },
  ];
  for (const { name, docker } of cases) {
    test(name, async () => {
      const home = tempHome();
      symlinkSync("/etc", join(home, "link"));
      const gateway = await startGateway({
        home,
        config: sandboxed({ docker: docker(home) }) as Record<string, unknown>,
      });
      try {
        const { ok, text, code } = await call(gateway, "exec", { command: `touch ${home}/ran; touch ran` });
        assert.equal(ok, false, text);
        assert.equal(code, "sandbox.refused", text);
        assert.equal(existsSync(join(home, "ran")) || existsSync(join(gateway.workspace, "ran")), false);
      } finally {
        await dispose(gateway);
        rmSync(home, { recursive: true, force: true });
      }
    });
  }

  test("SBX-012 a setup command counts only in the owner's config", async () => {
    const home = tempHome();
    const workspace = join(home, ".openclaw", "workspace");
    mkdirSync(join(workspace, ".openclaw"), { recursive: true });
    const planted = JSON.stringify({
      agents: { defaults: { sandbox: { docker: { setupCommand: "touch /workspace/planted" } } } },
    });
    for (const path of ["openclaw.json", ".openclaw/openclaw.json", "sandbox.json"])
      writeFileSync(join(workspace, path), planted);
    const gateway = await startGateway({
      home,
      config: {
        agents: {
          defaults: { sandbox: { mode: "all", scope: "shared", workspaceAccess: "rw", backend: "bubblewrap" } },
          list: [{ id: "main", default: true, sandbox: { docker: { setupCommand: "touch /workspace/planted" } } }],
        },
      },
    });
    try {
      assert.ok((await call(gateway, "exec", { command: "true" })).ok);
      assert.equal(existsSync(join(gateway.workspace, "planted")), false);
    } finally {
      await dispose(gateway);
    }
  });

  test("a sandbox that cannot start runs no command and names the fix", async () => {
    const home = tempHome();
    const gateway = await startGateway({
      home,
      config: sandboxed({ backend: "docker" }) as Record<string, unknown>,
      env: { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    });
    try {
      const { ok, text, code } = await call(gateway, "exec", { command: `touch ${home}/ran` });
      assert.equal(ok, false);
      assert.equal(code, "sandbox.unavailable", text);
      assert.match(text, /docker/);
      assert.equal(existsSync(join(home, "ran")), false);
    } finally {
      await dispose(gateway);
    }
  });
});

const connectScript =
  "use Socket; $SIG{ALRM} = sub { die }; for (@ARGV) { my $r = eval { alarm 2; my ($k, $v) = /^(unix|abstract):(.*)/; my $s; if ($k) { socket($s, AF_UNIX, SOCK_STREAM, 0) or die; connect($s, pack_sockaddr_un($k eq q(unix) ? $v : qq(\\0$v))) or die } else { my ($h, $p) = split /:/; socket($s, AF_INET, SOCK_STREAM, 0) or die; connect($s, sockaddr_in($p, inet_aton($h))) or die } 1 }; alarm 0; print $r ? qq(reached $_\\n) : qq(closed $_\\n) }";

function listen(...where: readonly string[]): Promise<Server[]> {
  return Promise.all(
    where.map(
      (place) =>
        new Promise<Server>((resolve, reject) => {
          const server = createServer((socket) => socket.end(CANARY));
          server.once("error", reject);
          server.listen(place, () => resolve(server));
        }),
    ),
  );
}
