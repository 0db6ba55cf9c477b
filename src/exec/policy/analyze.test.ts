// How command lines are read: which are understood, which are not and why, which are errors.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { OpenClawError } from "../../core/error.ts";
import { analyze } from "./analyze.ts";
import { openPolicyFixture } from "./fixture.cases.ts";

const fixture = openPolicyFixture();
const { context, workspace } = fixture;
after(() => fixture.close());

describe("words of a pipeline", () => {
  const rows: readonly [command: string, argv: readonly (readonly string[])[]][] = [
    ["ls -la", [["ls", "-la"]]],
    ["ls | wc -l", [["ls"], ["wc", "-l"]]],
    ["echo 'a b' \"c d\" e\\ f", [["echo", "a b", "c d", "e f"]]],
    ["echo 'it'\\''s'", [["echo", "it's"]]],
    ['echo "price is \\$5"', [["echo", "price is $5"]]],
    ["echo $'a\\tb\\x41\\u00e9'", [["echo", "a\tbAé"]]],
    ["echo 'multi\nline'", [["echo", "multi\nline"]]],
    ["echo a\\\nb", [["echo", "ab"]]],
    ["l\\s", [["ls"]]],
    ["'l''s' \"-\"l", [["ls", "-l"]]],
    ["echo '$(id)' '`id`' '*' \"?\" \\*", [["echo", "$(id)", "`id`", "*", "?", "*"]]],
    ["echo ''", [["echo", ""]]],
    ["echo \\\\", [["echo", "\\"]]],
    ["echo a#b # and a remark", [["echo", "a#b"]]],
    ["echo {} {a} a,b !x", [["echo", "{}", "{a}", "a,b", "!x"]]],
    ["echo ok;", [["echo", "ok"]]],
    ["\n\n echo ok \n", [["echo", "ok"]]],
    ["command ls", [["ls"]]],
    ["time ls", [["ls"]]],
    ["ls -- -weird", [["ls", "--", "-weird"]]],
    ["ls *.ts", [["ls", "a.ts", "b.ts"]]],
    ["ls ?.ts [ab].ts [!a].ts", [["ls", "a.ts", "b.ts", "a.ts", "b.ts", "b.ts"]]],
    ["ls *.none '*.ts'", [["ls", "*.none", "*.ts"]]],
    ["ls ~ ~/x '~/x' a~", [["ls", context.home, `${context.home}/x`, "~/x", "a~"]]],
    ["nice ls", [["nice", "/usr/bin/ls"]]],
    ["timeout -s KILL 5 nice -n 5 ls", [["timeout", "-s", "KILL", "5", "/usr/bin/nice", "-n", "5", "/usr/bin/ls"]]],
    ["env FOO=1 ls", [["env", "FOO=1", "/usr/bin/ls"]]],
  ];
  for (const [command, argv] of rows) {
    it(JSON.stringify(command), async () => {
      const analysis = await analyze(command, context);
      assert.deepEqual(
        { kind: analysis.kind, argv: analysis.segments.map((segment) => segment.argv) },
        { kind: "pipeline", argv },
      );
    });
  }

  it("reads assignments, streams, wrappers and the folder", async () => {
    const analysis = await analyze("cd src && FOO='a b' nice ls 2>&1 </dev/null | wc >/dev/null 2>&1", context);
    assert.equal(analysis.cwd, join(workspace, "src"));
    assert.deepEqual(
      analysis.segments.map(({ env, errors, output, input, wrappers, judged }) => ({
        env,
        errors,
        output,
        input,
        wrappers,
        path: judged.path,
      })),
      [
        {
          env: { FOO: "a b" },
          errors: "joined",
          output: undefined,
          input: "empty",
          wrappers: ["nice"],
          path: "/usr/bin/ls",
        },
        { env: {}, errors: "dropped", output: "dropped", input: undefined, wrappers: [], path: "/usr/bin/wc" },
      ],
    );
  });
});

describe("lines that need a shell", () => {
  const rows: readonly [command: string, code: string][] = [
    ["ls; ls", "exec.chain"],
    ["ls && ls", "exec.chain"],
    ["ls || ls", "exec.chain"],
    ["cd src || ls", "exec.chain"],
    ["cd src; ls", "exec.chain"],
    ["ls\nls", "exec.chain"],
    ["ls &", "exec.background"],
    ["ls |& wc", "exec.redirection"],
    ["! ls", "exec.keyword"],
    ["ls > x", "exec.redirection"],
    ["ls >| x", "exec.redirection"],
    ["ls 2>x", "exec.redirection"],
    ["ls < x", "exec.redirection"],
    ["ls <> x", "exec.redirection"],
    ["ls &>> x", "exec.redirection"],
    ["ls 3>&1", "exec.redirection"],
    ["ls >&2", "exec.redirection"],
    ["ls 2>&1 >/dev/null", "exec.redirection"],
    ["ls >/dev/null | wc", "exec.redirection"],
    ["ls | wc </dev/null", "exec.redirection"],
    ["ls > /dev/null/../x", "exec.redirection"],
    ["ls > ~/null", "exec.redirection"],
    ["ls > /dev/nul*", "exec.redirection"],
    ["{fd}>/dev/null ls", "exec.redirection"],
    ["cat <<< x", "exec.heredoc"],
    ["cat <<EOF\nx\nEOF", "exec.heredoc"],
    ["echo $HOME", "exec.expansion"],
    ['echo "$HOME"', "exec.expansion"],
    ["echo ${x}", "exec.expansion"],
    ["echo $((1+1))", "exec.expansion"],
    ["echo $(id)", "exec.expansion"],
    ["echo `id`", "exec.expansion"],
    ["echo <(id)", "exec.expansion"],
    ["echo >(id)", "exec.expansion"],
    ["echo {a,b}", "exec.expansion"],
    ["echo {1..3}", "exec.expansion"],
    ["echo @(a|b)", "exec.expansion"],
    ['echo $"x"', "exec.expansion"],
    ["echo ~root", "exec.expansion"],
    ["echo ~+", "exec.expansion"],
    ["$x", "exec.expansion"],
    ["l*", "exec.pattern"],
    ["ls [[:alpha:]]*", "exec.pattern"],
    ["ls [a-Z]*", "exec.pattern"],
    ["echo $'\\xff'", "exec.byte-escape"],
    ["echo $'\\0'", "exec.byte-escape"],
    ["(ls)", "exec.compound"],
    ["{ ls; }", "exec.compound"],
    ["if ls; then ls; fi", "exec.compound"],
    ["while ls; do ls; done", "exec.compound"],
    ["for x in a; do ls; done", "exec.compound"],
    ["case a in a) ls;; esac", "exec.compound"],
    ["f() { ls; }", "exec.compound"],
    ["[[ a = b ]]", "exec.compound"],
    ["((1))", "exec.compound"],
    ["coproc ls", "exec.compound"],
    ["FOO=bar", "exec.assignment"],
    ["a=(1 2) ls", "exec.assignment"],
    ["a+=1 ls", "exec.assignment"],
    ["a[0]=1 ls", "exec.assignment"],
    ["FOO=~/x ls", "exec.assignment"],
    ["PATH=/tmp ls", "exec.variable"],
    ["TZ=/tmp/x ls", "exec.variable"],
    ["LC_ALL=../x ls", "exec.variable"],
    ["FOO='() { :; }' ls", "exec.variable"],
    ["LD_PRELOAD=/x ls", "exec.variable"],
    ["ld_preload=/x ls", "exec.variable"],
    ["GIT_SSH_COMMAND=x ls", "exec.variable"],
    ["TAR_OPTIONS=x ls", "exec.variable"],
    ["env LD_PRELOAD=/x ls", "exec.variable"],
    ["FOO=1 env nice env PAGER=x ls", "exec.variable"],
    ["eval ls", "exec.builtin"],
    ["source x", "exec.builtin"],
    [". ./x", "exec.builtin"],
    ["exec ls", "exec.builtin"],
    ["export A=b", "exec.assignment"],
    ["command -v ls", "exec.builtin"],
    ["cd src", "exec.builtin"],
    ["nosuchprogram", "exec.no-program"],
    ["./nosuch", "exec.no-program"],
    ["nice nosuchprogram", "exec.no-program"],
    ['""', "exec.no-program"],
    ["ec\u200bho hi", "exec.unseen"],
    ["echo\u00a0hi", "exec.unseen"],
    ["nice l\u00ads", "exec.unseen"],
    ["ls\r", "exec.bad-text"],
    ["echo \ud800", "exec.bad-text"],
    ["cd / && ls", "exec.folder"],
    ["cd .. && ls", "exec.folder"],
    ["cd - && ls", "exec.folder"],
    ["cd && ls", "exec.folder"],
    ["cd ~ && ls", "exec.folder"],
    ["cd nosuch && ls", "exec.folder"],
    ["cd leads-out && ls", "exec.folder"],
    ["cd src src && ls", "exec.folder"],
    ["env env env env env ls", "exec.wrapper"],
    ["ls |", "exec.syntax"],
    ["ls )", "exec.syntax"],
    ["ls \\", "exec.syntax"],
    ["ls \\\\\\", "exec.syntax"],
    [`echo ${"a".repeat(20_000)}`, "exec.too-long"],
    ["/proc/self/exe", "exec.no-program"],
    ["/dev/fd/3", "exec.no-program"],
    [`echo ${"$(".repeat(5000)}`, "exec.too-deep"],
    [`echo ${"{a,".repeat(4000)}`, "exec.too-deep"],
    ["coproc ".repeat(2000), "exec.too-deep"],
    [Array.from({ length: 40 }, () => "cat").join("|"), "exec.chain"],
  ];
  mkdirSync(join(workspace, "folder"));
  symlinkSync(fixture.out, join(workspace, "leads-out"));
  for (const [command, code] of rows) {
    it(`${JSON.stringify(command.slice(0, 60))} → ${code}`, async () => {
      const analysis = await analyze(command, context);
      assert.deepEqual(
        { kind: analysis.kind, code: analysis.kind === "other" ? analysis.code : "" },
        { kind: "other", code },
      );
    });
  }

  it("lists the programs that it can read, at any depth", async () => {
    const analysis = await analyze("if ls; then x=$(wc -l) && (cat a; $y); fi", context);
    assert.deepEqual(
      analysis.segments.map((segment) => segment.argv),
      [["ls"], ["wc", "-l"], ["cat", "a"]],
    );
  });
});

describe("text that is not a command line", () => {
  for (const command of [
    "",
    "  \n\t",
    "echo \0",
    "echo 'a",
    'echo "a',
    "cat <<EOF\nhello",
    "echo $(ls",
    "echo `ls",
    "echo ${x",
  ]) {
    it(JSON.stringify(command), async () => {
      await assert.rejects(
        analyze(command, context),
        (error) => error instanceof OpenClawError && error.code === "exec.bad-command",
      );
    });
  }

  it("rejects the keyword time without a command", async () => {
    for (const command of ["time", "time -p"]) {
      const analysis = await analyze(command, context);
      assert.equal(analysis.kind === "other" ? analysis.code : analysis.kind, "exec.no-command");
    }
  });

  it("rejects our own interactive login", async () => {
    await assert.rejects(analyze("nice openclaw channels login", context), { code: "exec.interactive-login" });
  });
});

it("rejects an argument that names a guarded file, in any spelling", async () => {
  const guarded = [join(fixture.out, "rules.json"), join(fixture.out, "keys")];
  symlinkSync(fixture.out, join(workspace, "way"));
  writeFileSync(join(fixture.out, "rules.json"), "");
  const concernOf = async (command: string): Promise<string | undefined> =>
    (await analyze(command, { ...context, guarded })).segments[0]?.concern?.code;
  for (const command of [
    `tee ${fixture.out}/rules.json`,
    `tee ${fixture.out}/../out/rules.json`,
    "tee ../out/rules.json",
    "tee way/rules.json",
    "dd of=way/rules.json",
    "curl -oway/rules.json x",
    `cp --target-directory=${fixture.out}/keys x`,
    "cat way/keys/new",
    "cat way/*.json",
  ])
    assert.equal(await concernOf(command), "exec.guarded", command);
  for (const command of ["tee rules.json", `cat ${fixture.out}/other`, "echo keys"])
    assert.equal(await concernOf(command), undefined, command);
  mkdirSync(join(workspace, "tree"), { recursive: true });
  writeFileSync(join(workspace, "tree", "rules.json"), "");
  for (const command of [
    "cp tree/rules.json way",
    "cp -tway tree/rules.json",
    `cp --target-directory=${fixture.out} tree/rules.json`,
    "mv -f tree/rules.json way/",
    "cp -r tree/. way",
    "cp -rT tree way",
    "install -m 600 tree/rules.json way",
    "tar xf x.tar -C way",
    "tar -xf x.tar --directory=way",
    "tar -Cway -cf - rules.json",
    "unzip -o x.zip -d way",
    "rm -rf way/",
    `chmod -R 777 ${fixture.out}`,
    `mv ${fixture.out} x`,
    "curl --output-dir way -o rules.json http://x/",
    "curl -d @way/rules.json http://x/",
    "curl -F f=@way/rules.json http://x/",
    `nice cp tree/rules.json ${fixture.out}`,
  ])
    assert.equal(await concernOf(command), "exec.guarded", command);
  for (const command of [
    "ls way",
    "du -sh way",
    "cp a.ts way",
    "mv a.ts way/",
    "cp tree/rules.json src",
    "tar czf x.tgz tree",
    "tar xf x.tar -C tree",
    "rm -rf tree",
    "unzip -o x.zip -d tree",
    "find way -maxdepth 1",
    `ls / ${fixture.out}`,
  ])
    assert.notEqual(await concernOf(command), "exec.guarded", command);
});

it("matches a pattern of many stars quickly", async () => {
  writeFileSync(join(workspace, "a".repeat(200)), "");
  const pattern = `${"*a".repeat(60)}*b`;
  const analysis = await analyze(`ls ${pattern}`, context);
  assert.deepEqual(analysis.segments[0]?.argv, ["ls", pattern]);
});

it("matches hidden files only by a written dot, and folders only before a slash", async () => {
  mkdirSync(join(workspace, "deep/one"), { recursive: true });
  writeFileSync(join(workspace, "deep/.hidden"), "");
  writeFileSync(join(workspace, "deep/file"), "");
  writeFileSync(join(workspace, "deep/one/[x]"), "");
  const words = async (command: string): Promise<readonly string[]> =>
    (await analyze(command, context)).segments[0]?.argv.slice(1) ?? [];
  assert.deepEqual(await words("ls deep/*"), ["deep/file", "deep/one"]);
  assert.deepEqual(await words("ls deep/.h*"), ["deep/.hidden"]);
  assert.deepEqual(await words("ls deep/*/"), ["deep/one/"]);
  assert.deepEqual(await words("ls */one/*"), ["deep/one/[x]"]);
  assert.deepEqual(await words('ls deep/one/"["*'), ["deep/one/[x]"]);
});
