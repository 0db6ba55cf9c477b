// Arguments that can carry commands: which ones an allowlisted program may have.
import assert from "node:assert/strict";
import { chmodSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { familyNames } from "./argument-rules/names.ts";
import { decide, openPolicyFixture } from "./fixture.cases.ts";

const fixture = openPolicyFixture();
const { context, workspace, bin } = fixture;
after(() => fixture.close());

const allowlist = ["/usr/bin/*", "/bin/*", "/usr/sbin/*", join(bin, "*")];

function planted(name: string): string {
  writeFileSync(join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
  return name;
}

async function verdict(command: string): Promise<string> {
  const { judgment } = await decide(command, context, { allowlist });
  return judgment.outcome === "run" ? "run" : judgment.code;
}

function rows(kind: string, expected: string, commands: readonly string[]): void {
  describe(kind, () => {
    for (const command of commands) it(command, async () => assert.equal(await verdict(command), expected));
  });
}

planted("ncal");
writeFileSync(join(workspace, "x.pl"), "");
symlinkSync("/dev/stdin", join(workspace, "by-link.py"));
symlinkSync("nosuch", join(workspace, "dangling.py"));
writeFileSync(join(workspace, "x.php"), "");

rows("allowed with an entry for the program", "run", [
  "find . -name '*.ts' -type f -newermt 2024-01-01 -printf '%p\\n'",
  "find . \\( -name a -o -name b \\) -print0",
  "find -L src -maxdepth 1 ! -empty",
  "sed -n 1,5p a.ts",
  "sed 's/a/b/g;s|x|y|2' a.ts",
  "sed -E -e '/foo/d' -e '$!N' a.ts",
  "sed '/a/,/b/{s/x/y/;p}' a.ts",
  "sed -n '$=' a.ts",
  "sed 'y/abc/xyz/'",
  "awk '{print $1}' a.ts",
  "awk -F: -v n=3 '$1 == n || NR < 5 { s += $2 } END { print s }' a.ts",
  "tar czf x.tgz src",
  "tar -xzf x.tgz -C src --strip-components=1",
  "tar tf x.tar",
  "tar --list --file=x.tar --exclude '*.o'",
  "python3 safe.py -c extra",
  "python3 -uB safe.py --import x",
  "python3 --version",
  "python3 nosuch.py",
  "awk '$3 > 100' a.ts",
  "node ok.js -e 1",
  "node --version",
  "perl -w x.pl -e 1",
  "php x.php -r 1",
  "bash --version",
  "npm --version",
  "rsync -av --delete src/ dst/",
  "less -N a.ts",
  "man ls",
  "zip -rq a.zip src",
  "tcpdump -nn -i lo -c 5",
  "rg -n 'a|b' src",
  "rg --files -g '!node_modules' --pretty",
  "sort -u -k2,2 a.ts",
  "sort -to a.ts",
  "uniq -c a.ts",
  "uniq --group a.ts",
  "xxd -l 16 a.ts",
  "date -d yesterday",
  "ncal 'more cookies for who is there'",
  "curl -s -o x https://example.com/",
  "make -j 4 test",
  "make -j test",
  "make V=1 DEBUG=yes test",
  "awk '{ if ($1 > 5) print $2 }' a.ts",
  "make -j4 --load-average 2 test",
  "rg -tzsh foo",
  "rg -ezebra src",
  "rg -n -- '--pre' src",
  "nice -10 ls",
  "tar -cf x.tar -C src .",
  "gcc -O2 -o a a.c",
  "echo sh -c id",
  "ls -l /bin/sh -c",
  "sqlite3 -safe -json db 'select 1'",
  "systemctl status --no-pager cron",
  "timeout 5 nice -n 3 env A=1 stdbuf -oL ls",
  "nice --adjustment=5 ls",
  "ionice -c2 -n7 ls",
  "taskset -c 0,1 ls",
  "time -p ls",
]);

rows("refused although the program has an entry", "exec.arguments", [
  "find . -exec touch x \\;",
  "find . -exec touch {} +",
  "find . -execdir ls \\;",
  "find . -ok ls \\;",
  "find . -okdir ls \\;",
  "find . -delete",
  "find . -fprint x",
  "find . -fprint0 x",
  "find . -fls x",
  "find . -files0-from x",
  "find . -D exec",
  "find . -unknown",
  "find . -name",
  "sed e",
  "sed '1e touch x'",
  "sed 's/a/b/e'",
  "sed 's/a/b/w x'",
  "sed 's/a/b/;w x'",
  "sed '/a/w x'",
  "sed '/a/ e'",
  "sed '\\|a|e'",
  "sed '1{e\n}'",
  "sed 'r /etc/passwd'",
  "sed 'R x'",
  "sed 'W x'",
  "sed -f x",
  "sed -i s/a/b/ a.ts",
  "sed -ni p a.ts",
  "sed --in-place p",
  "sed --in-plac p",
  "sed -s -e p -e 'w x'",
  "sed 's/[/]/e'",
  "sed 's,a,b,gew x'",
  "sed --expression='e'",
  "awk 'BEGIN { system(\"id\") }'",
  "awk '{ print > \"x\" }'",
  "awk '{ print | \"sh\" }'",
  "awk 'BEGIN { \"id\" | getline x }'",
  "awk '@load \"x\"'",
  'awk \'BEGIN { f = "sys" "tem"; @f("id") }\'',
  "awk -f x",
  "awk -i inplace 1",
  "awk --source 1",
  "awk -E x",
  "tar cf x src --checkpoint-action=exec=id",
  "tar cf x --checkpoint=1 src",
  "tar -I id -cf x src",
  "tar --use-compress-program=id -cf x src",
  "tar --use-comp=id -cf x src",
  "tar xf x --to-command=id",
  "tar -cf host:x src",
  "tar cf host:x src",
  "tar -cf x -T list",
  "tar --rsh-command=id -cf h:x src",
  "tar -F id -cf x src",
  "tar cfI x id src",
  "python3",
  "python3 -",
  "python3 -c 1",
  "python3 -uc 1",
  "python3 -m http.server",
  "python3 -i safe.py",
  "python3 -W error safe.py",
  "python3 -X dev safe.py",
  "python3 /dev/stdin",
  "python3 /dev/nosuch",
  "python3 dangling.py",
  "python3 /proc/self/fd/0",
  "python3 by-link.py",
  "python3 src",
  "node -e 1",
  "node -pe 1",
  "node -r ./x ok.js",
  "node --require=./x ok.js",
  "node --import ./x ok.js",
  "node --loader ./x ok.js",
  "node --env-file=x ok.js",
  "node --test",
  "node --run x",
  "node inspect ok.js",
  "node -",
  "node",
  "perl -ne 1",
  "perl -Mx x.pl",
  "perl -I. x.pl",
  "perl -i.bak x.pl",
  "perl -d x.pl",
  "perl",
  "ruby -e 1",
  "ruby -rx ok.js",
  "php -r 1",
  "php -d x=1 x.php",
  "php -a",
  "php -S :80",
  "rsync -e sh a h:b",
  "rsync -avze sh a b",
  "rsync --rsh=sh a b",
  "rsync a host:b",
  "rsync a rsync://h/b",
  "rsync --rsync-path=x a b",
  "less +!id a.ts",
  "less -k x a.ts",
  "less -o x a.ts",
  "man -P id ls",
  "man --pager=id ls",
  "man -H ls",
  "man ./x",
  "zip -T x.zip a -TT id",
  "zip --unzip-command id x",
  "tcpdump -z id -w x",
  "tcpdump -nz id",
  "rg --pre id x",
  "rg --pre=id x",
  "rg -z x",
  "rg --hostname-bin=id x",
  "rg -e -- --pre id x",
  "rg -g -- --pre=id x",
  "rg -nz x",
  "sort -t -- --compress-program=id",
  "split -a -- --filter=id",
  "curl -H -- -K x",
  "curl --expand-config x",
  "curl file:///etc/passwd",
  "make -j -f x",
  "make -jf x",
  "make V=x",
  "make MAKEFLAGS=off",
  "make V:=1",
  "make 'V=$(id)'",
  "make V=1 INSTALL=id",
  "awk '$1 > 5 { print $2 > \"x\" }' a.ts",
  "awk '{ print }{ printf $1 >> \"x\" }' a.ts",
  "make -j --eval=x",
  "make -l SHELL=id",
  "make --jobs --file=x",
  "tar -cf x -C -Iid .",
  "tar -xPf x",
  "awk -F -f x",
  "awk 'BEGIN { sys\\\ntem(\"id\") }'",
  "openssl pkey -in org.openssl.engine:x:k",
  "node openclaw.mjs approvals set",
  "sort --compress-program=id",
  "sort -uo out.txt a.ts",
  "sort --outp=out.txt a.ts",
  "uniq a.ts out.txt",
  "uniq -- a.ts out.txt",
  "xxd -r a.ts out.bin",
  "shuf a.ts -o out.txt",
  "iconv -f utf8 -t latin1 -oout.txt a.ts",
  "date -s 2020-01-01",
  "sysctl -w kernel.core_pattern=x",
  "sysctl kernel.core_pattern=x",
  "ncal 'touch /tmp/canary'",
  "ncal --on-end='touch -- x'",
  "ncal -I '/bin/touch ./x'",
  "sort --compress-prog=id",
  "split --filter=id",
  "split --filt=id",
  "curl -K x",
  "curl -sK x",
  "curl --engine x",
  "curl --unix-socket /run/docker.sock http://x",
  "sed -l 'w x' p",
  "gcc -Wl,-plugin,x a.c",
  "make SHELL=id",
  "make --eval=x",
  "make -f x",
  "gcc -wrapper id a.c",
  "gcc -fplugin=x a.c",
  "gcc @x",
  "sqlite3 db '.shell id'",
  "sqlite3 -cmd '.shell id' db",
  "systemctl start x",
  "install --strip-program=id -s a b",
  "nosuch-but-here --exec id",
  "nosuch-but-here sh -c id",
  "nosuch-but-here x /bin/bash -lc id",
  "nosuch-but-here --with='sh -c id'",
  "nosuch-but-here python3 -c 1",
  "nosuch-but-here --password-command id",
  "nosuch-but-here --post-exec=id",
]);
writeFileSync(join(bin, "nosuch-but-here"), "#!/bin/sh\n");
chmodSync(join(bin, "nosuch-but-here"), 0o755);

rows("not allowed by any entry", "exec.carrier", [
  "sh x.sh",
  "bash -c id",
  "bash",
  "dash -c id",
  "busybox ls",
  "xargs ls",
  "sudo ls",
  "docker ps",
  "nsenter -t 1 ls",
  "strace ls",
  "script -c ls",
  "gdb ls",
  "npx x",
  "npm test",
  "pip install x",
  "cargo run",
  "go run x",
  "bun run x",
  "deno eval x",
  "parallel ls",
  "at now",
  "systemd-run ls",
  "unshare ls",
  "ld.so /bin/ls",
  "nice xargs ls",
  "env sh -c id",
  "timeout 5 bash -c id",
  ...[
    "perl-rename",
    "genv",
    "gtimeout",
    "git-shell",
    "nc.traditional",
    "gdb-multiarch",
    "qemu-x86_64-static",
    "systemd-inhibit",
    "pee",
    "tclsh8.6",
  ].map((name) => `${planted(name)} x`),
]);

rows("a wrapper in an unknown form", "exec.wrapper", [
  "env -S 'ls -l'",
  "env -i ls",
  "env -u PATH ls",
  "env -C / ls",
  "env --split-string=ls",
  "nice",
  "nice -n x ls",
  "nice --adj=5 ls",
  "timeout ls",
  "timeout --sig=KILL 5 ls",
  "/usr/bin/time -o x ls",
  "stdbuf -o1X ls",
  "setsid -f ls",
  "ionice -p 1",
  "taskset -p 1",
  "chrt -f 1 ls",
  "nohup --x ls",
]);

it("binds the makefile of the folder that make enters", async () => {
  writeFileSync(join(workspace, "Makefile"), "");
  writeFileSync(join(workspace, "src", "Makefile"), "");
  for (const [command, file] of [
    ["make all", "Makefile"],
    ["make -C src all", "src/Makefile"],
    ["make -Csrc all", "src/Makefile"],
    ["make -kCsrc", "src/Makefile"],
    ["make -kC src", "src/Makefile"],
    ["make --directory=src", "src/Makefile"],
    ["make -C src -C ..", "Makefile"],
  ] as const) {
    const { analysis } = await decide(command, context, { allowlist });
    assert.deepEqual(analysis.segments[0]?.scripts, [join(workspace, file)], command);
  }
});

describe("recognizes a program by", () => {
  it("its name with a version in the middle", async () => {
    for (const name of ["perl5.36-x86_64-linux-gnu", "php8.2-cgi", "python3.11-dbg"])
      assert.equal(await verdict(`${planted(name)} -e 1`), "exec.arguments", name);
  });

  it("a variant or a part of its name", async () => {
    for (const name of [
      "busybox.nosuid",
      "toybox-x86_64",
      "nvim.appimage",
      "docker-buildx",
      "kubectl-exec",
      "rsync-ssl",
    ])
      assert.equal(await verdict(`${planted(name)} x`), "exec.carrier", name);
    assert.equal(await verdict(`${planted("pythonw")} -c 1`), "exec.arguments");
  });

  it("the target of a link under another name", async () => {
    for (const [name, target] of [
      ["tool1", "/bin/bash"],
      ["tool2", "/usr/bin/env"],
      ["tool3", "/usr/bin/python3"],
    ] as const)
      symlinkSync(target, join(bin, name));
    assert.equal(await verdict("tool1 -c id"), "exec.carrier");
    assert.equal(await verdict("tool2 touch x"), "exec.carrier");
    assert.equal(await verdict("tool3 -c 1"), "exec.arguments");
  });

  it("its folder: a wrapper outside the system folders is not a wrapper", async () => {
    writeFileSync(join(workspace, "nice"), "#!/bin/sh\n");
    chmodSync(join(workspace, "nice"), 0o755);
    assert.equal(await verdict("./nice ls"), "exec.wrapper");
    const { judgment } = await decide("./nice ls", context, { allowlist: [...allowlist, `${workspace}/*`] });
    assert.equal(judgment.code, "exec.wrapper");
  });
});

/** A stand-in for a program that this machine lacks; it is judged by its name. */
function plantMissing(command: string): void {
  const [name = ""] = command.split(" ");
  if (!existsSync(join("/usr/bin", name)) && !existsSync(join("/usr/sbin", name))) planted(name);
}

const starters = [
  "op run -- id",
  "pass edit x",
  "gst-launch-1.0 x",
  "redis-server --loadmodule ./x.so",
  "zmore x",
  "pytest",
  "py.test -q",
  "pytest-3 -q",
  "bats test.bats",
  "coverage run x.py",
  "coverage3 run x.py",
  "vitest run",
  "mocha",
  "jest",
  "phpunit",
  "rspec",
  "eslint .",
  "pylint x.py",
  "mypy .",
  "flake8",
  "playwright test",
  "behave",
  "nose2",
  "tox",
  "ctest",
  "claude -p hi",
  "codex exec hi",
  "aider --message hi",
  "gemini -p hi",
  "opencode run hi",
  "cursor-agent -p hi",
  "goose run",
  "llm hi",
  "sgpt --shell hi",
  "hg status",
  "hg --config hooks.pre-status=id status",
  "svn diff --diff-cmd id",
  "svn ls svn+x://h",
  "scp -S id a b:c",
  "sftp -D id h",
  "ssh -o ProxyCommand=id h",
  "rdiff-backup a b",
  "unison a b",
  "duplicity a b",
  "mlr -n put x",
  "dialog --prgbox id 1 1",
  "bison x.y",
  "sox '|id' x.wav",
  "not touch x",
  "memusage touch x",
  "heaptrack touch x",
  "gprofng collect app touch x",
  "x86_64-linux-gnu-gprofng collect app touch x",
  "uclampset -m 0 touch x",
  "gdbtui -batch -ex x",
  "gpg-agent --daemon touch x",
  "debconf-apt-progress -- touch x",
  "pg_virtualenv touch x",
  "llvm-reduce-14 --test=x y",
  "opt-14 -load=x y",
  "iptables-apply -c x",
  "mvnDebug -v",
  "vimtutor",
  "cg_diff --mod-filename=x a b",
  "websocketd --port=1 touch",
  "mksquashfs a b -p 'x f 444 0 0 touch /x'",
];
for (const command of starters) plantMissing(command);
rows("lesser-known programs that start others", "exec.carrier", starters);

const carrying = [
  "ffmpeg -i a.wav -af ladspa=file=./x.so b.wav",
  "ffmpeg -i a -vf frei0r=./x.so b",
  "ffprobe x.vpy",
  "clang-cl /clang:-fplugin=./x.so a.c",
  "clang-cl -Xclang -load a.c",
  "nosuch-but-here -fplugin=./x.so",
  "p11tool --provider=./x.so --list-tokens",
  "cloc --vcs=id .",
  "restic -o sftp.command=id backup x",
  "restic --option=sftp.command=id backup x",
  "restic --opt rclone.program=id snapshots",
  "restic -r rclone:x:y snapshots",
  "restic --repo=sftp:host:/x snapshots",
  "restic --password-command=id snapshots",
  "restic backup --stdin-from-command -- id",
  "rclone copy a ':sftp,ssh=id:/x'",
  "rclone copy a 'remote,ssh=id:/x'",
  "rclone copy --sftp-ssh id a b:",
  "rclone copy --sftp-ssh=id a b:",
  "rclone lsd --password-command id b:",
  "rclone --config x lsd b:",
  "rclone --metadata-mapper id copy a b:",
  "borg --rsh id list x",
  "borg create --content-from-command x::y -- id",
  "clang-tidy -load=./x.so a.c",
  "clang-tidy --load ./x.so a.c",
  "clang-tidy a.c -- -fplugin=./x.so",
  "clang-tidy a.c -- -Xclang -load",
  "clang-tidy-14 -load=./x.so a.c",
  "clangd --query-driver=x",
  "cppcheck --addon=x.py a.c",
  "protoc --plugin=protoc-gen-x=./x --x_out=. a.proto",
  "gcc '-fmodule-mapper=|id' a.cc",
  "clang --gcc-toolchain=. a.c",
  "strip --plugin ./x.so a.o",
  "nosuch-but-here -o sftp.command=id x",
  "nosuch-but-here ':sftp,ssh=id:/x'",
  "nosuch-but-here --config-option config:tunnels:x=id",
  "nosuch-but-here -load=./x.so",
  "nosuch-but-here -load ./x.so",
  "nosuch-but-here -o ProxyCommand=id x",
  "json_pp -f eval",
  "pygmentize -x -l x.py y",
  "javap -J-javaagent:x.jar Y",
  "keytool -providerclass X -list",
  "javadoc -doclet X Y.java",
  "iptables --modprobe=x -L",
  "ip6tables -M x -L",
  "savelog -x y z",
  "rpcgen -Y x y",
  "tree -R -L 1",
  "tree -aR",
  "tc exec bpf x",
  "ip v exec x touch y",
  "gfortran -wrapper x y.f",
  "x86_64-linux-gnu-ld.bfd -plugin x y.o",
  "lto-dump -fplugin=x y",
  "ctags-universal --options=x y",
  "tomlq -i . x",
  "ug --filter=x y",
  "llvm-cov show -Xdemangler=x y",
  "grog --run x",
  "xrdb -cpp x y",
  "curl '{file}:///etc/passwd'",
  "curl '[f-f]ile:///etc/passwd'",
  "curl '{x,file:///etc/passwd}'",
  "curl 'fi{\\l}e:///etc/passwd'",
  "openssl s_client -connect x:1 -keylogfile y",
  "sed ':a;e id' a.ts",
  "sed 'b;w x' a.ts",
  "sed -e '1a x\\' -e 'e id' a.ts",
  "sed -e '1a x' -e 'e id' a.ts",
  'awk \'BEGIN{print "if (" > "x"; y=")"}\'',
  "awk '{ if ($1 > 2) print > \"x\" }' a.ts",
  "node --test --import x ok.js",
  "node --check -e 1",
];
for (const command of carrying) plantMissing(command);
rows("lesser-known options that carry code", "exec.arguments", carrying);

const everyday = [
  "restic -r /srv/backup snapshots",
  "restic --repo s3:https://example.com/x backup src --exclude '*.o'",
  "rclone copy src remote:x/y --progress",
  "rclone lsd remote:",
  "borg list /srv/backup",
  "clang-tidy -p build --checks='-*,bugprone-*' a.c",
  "clang-format -i a.c",
  "cppcheck --enable=all src",
  "protoc --cpp_out=gen a.proto",
  "nosuch-but-here --load-average 3",
  "nosuch-but-here --pager=never a.c",
  "nosuch-but-here exec=true",
  "nosuch-but-here key=value --set image.tag=1",
  "env",
  "env | sort",
  "tree -L 2 -I node_modules",
  "json_pp -json_opt pretty,canonical",
  "pygmentize -l python a.ts",
  "javap -c X",
  "curl 'http://127.0.0.1/{a,b}/[1-3].png'",
  'curl -d \'{"url":"https://example.com/"}\' http://127.0.0.1/',
  "sed ':a;N;$!ba;s/\\n/,/g' a.ts",
  "sed '1i // first' a.ts",
  "awk '{ print $1; if ($2 > 3) n++ } END { print n }' a.ts",
  "node --test ok.js",
  "node --max-old-space-size=4096 ok.js",
  "update-notes",
  "restore --all",
];
for (const command of everyday) plantMissing(command);
rows("everyday arguments of the same programs", "run", everyday);

it("recognizes administration programs by name in system folders only", () => {
  assert.ok(familyNames("/usr/bin/dpkg-architecture").includes("service"));
  assert.ok(!familyNames("/usr/bin/dpkg-query").includes("service"));
  assert.ok(familyNames("/usr/sbin/update-rc.d").includes("service"));
  assert.ok(!familyNames("/home/me/bin/update-notes").includes("service"));
});
