// Which variables a call may set, and which ones a command inherits from the gateway.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ToolError } from "../core/error.ts";
import { childEnvironment, isRejectedVariable, rejectVariables } from "./environment.ts";

const table = new URL("../../test/attack/cases.json", import.meta.url);

interface Attack {
  readonly id: string;
  readonly area: string;
  readonly input: { readonly params?: { readonly env?: Record<string, string> } };
}

test("rejects every variable of the attack table by name", () => {
  const attacks = (JSON.parse(readFileSync(table, "utf8")) as Attack[]).filter(({ area }) => area === "exec.env");
  assert.ok(attacks.length >= 35);
  for (const { id, input } of attacks) {
    const env = input.params?.env ?? {};
    const name = Object.keys(env)[0] ?? "";
    assert.throws(
      () => rejectVariables(env, "gateway"),
      (error) =>
        error instanceof ToolError &&
        error.code === "exec.rejected-variable" &&
        error.message.includes(name) &&
        (error.details as { refused: boolean }).refused,
      id,
    );
  }
});

test("rejects families of loaders, interpreters, shells, build tools and clients in any case", () => {
  const names =
    `LD_PRELOAD ld_preload Ld_Library_Path LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_X BASH_ENV BASH_FUNC_x ENV env PS4 PROMPT_COMMAND
    SHELLOPTS ZDOTDIR NODE_OPTIONS node_options NODE_REPL_HISTORY PYTHONINSPECT PYTHONWARNINGS PERL5LIB PERLLIB PERL5DB RUBYLIB RUBYOPT
    GIT_SSH GIT_ASKPASS GIT_PROXY_COMMAND GIT_CONFIG_KEY_0 GIT_CONFIG_GLOBAL GIT_TEMPLATE_DIR GIT_SEQUENCE_EDITOR GIT_DIR GIT_WORK_TREE
    EDITOR SYSTEMD_PAGER LESSOPEN LESSCLOSE BROWSER SSH_ASKPASS SUDO_ASKPASS SSH_AUTH_SOCK _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS JAVA_HOME
    GRADLE_OPTS ANT_OPTS SBT_OPTS CLASSPATH DOTNET_STARTUP_HOOKS COMPLUS_Foo CORECLR_PROFILER_PATH PHPRC PHP_INI_SCAN_DIR LUA_INIT LUA_PATH
    npm_config_registry NPM_CONFIG_SCRIPT_SHELL YARN_RC_FILENAME CARGO_BUILD_RUSTC_WRAPPER CARGO_TARGET_DIR RUSTC_WRAPPER RUSTFLAGS RUSTC
    GOFLAGS GOPROXY GOPATH CGO_CFLAGS CC MAKEFLAGS PIP_INDEX_URL UV_INDEX_URL PIP_CONFIG_FILE VIRTUAL_ENV CONDA_PREFIX BUNDLE_GEMFILE GEM_HOME
    OPENSSL_CONF OPENSSL_MODULES SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME WGETRC NETRC AWS_CONFIG_FILE AWS_CA_BUNDLE
    AWS_ENDPOINT_URL DOCKER_HOST DOCKER_CONFIG HELM_PLUGINS TF_CLI_CONFIG_FILE ANSIBLE_CONFIG KUBECONFIG GOOGLE_APPLICATION_CREDENTIALS
    HTTP_PROXY https_proxy ALL_PROXY no_proxy GCONV_PATH LOCPATH HOSTALIASES MALLOC_CONF TERMCAP TERMINFO_DIRS XDG_CONFIG_HOME INPUTRC
    VIMINIT EXINIT TAR_OPTIONS GREP_OPTIONS RSYNC_RSH CVS_RSH SVN_SSH HGRCPATH R_PROFILE ERL_AFLAGS JULIA_LOAD_PATH EMACSLOADPATH
    FOO_PRELOAD MY_EDITOR SOME_PAGER ANY_ASKPASS NEW_TOOL_OPTS THING_STARTUP_HOOKS X_WRAPPER OPENCLAW_STATE_DIR OPENCLAW_RUN HOME home SHELL
    IFS CDPATH USER TMPDIR GTK_MODULES QT_PLUGIN_PATH GIO_MODULE_DIR VK_LAYER_PATH ELECTRON_RUN_AS_NODE MAVEN_ARGS GPG_TTY GNUPGHOME
    GROFF_BIN_PATH WINEPREFIX FLASK_APP DJANGO_SETTINGS_MODULE UWSGI_INI PYSPARK_PYTHON GDBHISTFILE MY_HISTFILE KSHRC ESBUILD_BINARY_PATH
    NEW_TOOL_EXECUTABLE SOME_CLI_ARGS X_FLAGS TOOL_PLUGINS_DIR BORG_PASSCOMMAND CHROME_DEVEL_SANDBOX
    RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND ASAN_OPTIONS LSAN_OPTIONS PSModulePath`.split(/\s+/);
  assert.deepEqual(
    names.filter((name) => !isRejectedVariable(name)),
    [],
  );
  for (const name of ["", "A=B", "1A", "A B", "A-B", "BASH_FUNC_x%%", "Ä", "A\0", "A\n"])
    assert.ok(isRejectedVariable(name), name);
});

test("accepts ordinary names", () => {
  const names =
    `FOO CI DEBUG MY_TOKEN LANG LC_ALL TZ NODE_ENV VERBOSE PORT DATABASE_URL API_KEY GITHUB_TOKEN GH_TOKEN AWS_REGION AWS_PROFILE
    NO_COLOR FORCE_COLOR COLUMNS LINES TERM RUST_LOG RUST_BACKTRACE PYTHONUNBUFFERED GIT_AUTHOR_NAME OUTPUT_FILE SRC DEST NAME
    PGPASSWORD MYSQL_PWD CUDA_VISIBLE_DEVICES OMP_NUM_THREADS _X x1 LOG_LEVEL APP_ENV BUILD_NUMBER GOAL RUN HOST REDIS_URL`.split(
      /\s+/,
    );
  assert.deepEqual(names.filter(isRejectedVariable), []);
  rejectVariables(Object.fromEntries(names.map((name) => [name, "1"])), "gateway");
});

test("rejects values that name files or contain a function", () => {
  const bad: Record<string, string>[] = [
    { TZ: "/x" },
    { TZ: ":/x" },
    { TZ: "a/../../x" },
    { LANG: "/x" },
    { LC_ALL: "../x" },
    { LANGUAGE: "../x" },
    { TERM: "../x" },
    { FOO: "() { :; }; x" },
  ];
  for (const env of bad)
    assert.throws(() => rejectVariables(env, "gateway"), { code: "exec.rejected-variable" }, JSON.stringify(env));
  rejectVariables({ TZ: "Europe/Berlin", LANG: "de_DE.UTF-8", TERM: "xterm-256color", FOO: "(a)" }, "gateway");
});

test("in a sandbox checks only the syntax of names, and our own names", () => {
  rejectVariables({ PATH: "/x", LD_PRELOAD: "/x.so", HOME: "/" }, "sandbox");
  assert.throws(() => rejectVariables({ "A=B": "x" }, "sandbox"), { code: "exec.rejected-variable" });
  assert.throws(() => rejectVariables({ OPENCLAW_RUN: "x" }, "sandbox"), { code: "exec.rejected-variable" });
  assert.throws(() => rejectVariables({ FOO: "a\0b" }, "sandbox"), { code: "exec.rejected-variable" });
  assert.throws(() => rejectVariables({ PATH: "/x" }, "node"), { code: "exec.rejected-variable" });
});

test("passes folders, language and terminal of the gateway, never its credentials", () => {
  const gateway = {
    HOME: "/home/a",
    LANG: "C.UTF-8",
    LC_TIME: "de_DE",
    OPENAI_API_KEY: "sk-secret",
    ANTHROPIC_API_KEY: "secret",
    OPENCLAW_GATEWAY_TOKEN: "secret",
    AWS_SECRET_ACCESS_KEY: "secret",
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "/x.so",
    GIT_SSH_COMMAND: "x",
    PATH: "/gateway",
    HTTPS_PROXY: "http://user:secret@proxy:1",
    HTTP_PROXY: "http://proxy:1",
    EMPTY: undefined,
  };
  assert.deepEqual(childEnvironment({ gateway, call: { FOO: "1" }, path: ["/a", "/b"] }), {
    HOME: "/home/a",
    LANG: "C.UTF-8",
    LC_TIME: "de_DE",
    HTTP_PROXY: "http://proxy:1",
    PATH: "/a:/b",
    TERM: "dumb",
    FOO: "1",
  });
  assert.equal(childEnvironment({ gateway, call: {}, path: [], tty: true })["TERM"], "xterm-256color");
});
