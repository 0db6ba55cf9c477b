// Every finding of the audit: a setup that has it, and the closest one that does not.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { AgentId } from "../../core/names.ts";
import type { Machine, Weight } from "./finding.ts";

/** A home that is audited. */
export interface SetUp {
  readonly config?: unknown;
  readonly approvals?: unknown;
  readonly machine?: Partial<Machine>;
  readonly env?: Record<string, string>;
  readonly deep?: boolean;
  readonly prepare?: (state: string, home: string) => void;
}

export const strongToken = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
export const safeTools = { fs: { workspaceOnly: true } };
export const sandboxed = { defaults: { sandbox: { mode: "all" } } };
const allow = (...patterns: string[]): unknown => ({
  version: 1,
  agents: { main: { allowlist: patterns.map((pattern) => ({ pattern })) } },
});

interface Pair {
  readonly id: string;
  readonly weight: Weight;
  readonly bad: SetUp;
  readonly good: SetUp;
}

function writeHook(state: string): void {
  const folder = join(state, "workspace", "hooks", "own");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "HOOK.md"), "---\nmetadata: {openclaw: {events: [command]}}\n---\n");
  writeFileSync(join(folder, "handler.js"), "export default () => {};");
}

const pair = (id: string, weight: Weight, bad: unknown, good: unknown): Pair => ({
  id,
  weight,
  bad: { config: bad },
  good: { config: good },
});
export const gateway = (keys: object): object => ({ gateway: { auth: { token: strongToken }, ...keys } });
export const exec = (keys: object, rest: object = {}): object => ({ tools: { ...safeTools, exec: keys }, ...rest });
const docker = (keys: object): object => ({ agents: { defaults: { sandbox: { mode: "all", docker: keys } } } });
const telegram = (keys: object, rest: object = {}): object => ({ channels: { telegram: keys }, ...rest });

export const pairs: readonly Pair[] = [
  // exposure
  pair("exposure.bind", "high", gateway({ bind: "lan" }), gateway({ bind: "loopback" })),
  pair(
    "exposure.bind",
    "medium",
    gateway({ bind: "custom", customBindHost: "10.0.0.5" }),
    gateway({ bind: "custom", customBindHost: "127.0.0.1" }),
  ),
  pair(
    "exposure.funnel",
    "critical",
    gateway({ tailscale: { mode: "funnel" }, auth: { mode: "password", password: strongToken } }),
    gateway({ tailscale: { mode: "serve" } }),
  ),
  pair("exposure.no-secret", "info", { gateway: { mode: "local" } }, gateway({})),
  pair("exposure.weak-secret", "high", gateway({ auth: { token: "short" } }), gateway({})),
  pair(
    "exposure.weak-secret",
    "critical",
    gateway({ bind: "lan", auth: { token: "changeme-changeme-changeme" } }),
    gateway({ bind: "lan" }),
  ),
  pair(
    "exposure.no-device",
    "critical",
    gateway({ controlUi: { dangerouslyDisableDeviceAuth: true } }),
    gateway({ controlUi: { enabled: true } }),
  ),
  pair(
    "exposure.insecure-auth",
    "high",
    gateway({ controlUi: { allowInsecureAuth: true } }),
    gateway({ controlUi: { allowInsecureAuth: false } }),
  ),
  pair(
    "exposure.any-origin",
    "medium",
    gateway({ controlUi: { allowedOrigins: ["*"] } }),
    gateway({ controlUi: { allowedOrigins: ["https://me.example"] } }),
  ),
  pair(
    "exposure.plain-origin",
    "medium",
    gateway({ controlUi: { allowedOrigins: ["http://me.example"] } }),
    gateway({ controlUi: { allowedOrigins: ["http://localhost:3000"] } }),
  ),
  pair(
    "exposure.trusted-proxies",
    "medium",
    gateway({ trustedProxies: ["0.0.0.0/0"] }),
    gateway({ trustedProxies: ["10.1.2.3"] }),
  ),
  pair(
    "exposure.trusted-proxies",
    "low",
    gateway({ trustedProxies: ["10.0.0.0/8"] }),
    gateway({ trustedProxies: ["10.1.2.3"] }),
  ),
  pair("exposure.any-host", "low", gateway({ allowedHosts: ["*.example"] }), gateway({ allowedHosts: ["me.example"] })),
  pair(
    "exposure.tailscale-names",
    "medium",
    gateway({ auth: { token: strongToken, allowTailscale: true } }),
    gateway({ auth: { token: strongToken, allowTailscale: true }, tailscale: { mode: "serve" } }),
  ),
  pair(
    "exposure.plain-remote",
    "high",
    { gateway: { mode: "remote", remote: { url: "ws://far.example" } } },
    { gateway: { mode: "remote", remote: { url: "wss://far.example" } } },
  ),
  // sandbox
  pair("sandbox.off", "high", {}, { agents: sandboxed }),
  pair("sandbox.off", "medium", exec({ host: "gateway" }), exec({ host: "gateway" }, { agents: sandboxed })),
  pair("sandbox.off", "low", { tools: { deny: ["exec"] } }, { tools: { deny: ["exec"] }, agents: sandboxed }),
  pair(
    "sandbox.main-open",
    "medium",
    { agents: { defaults: { sandbox: { mode: "non-main" } } } },
    { agents: sandboxed },
  ),
  {
    id: "sandbox.broken",
    weight: "medium",
    bad: {
      config: { agents: sandboxed },
      machine: { sandboxWorks: () => Promise.resolve({ works: false, reason: "bwrap is not installed" }) },
    },
    good: { config: { agents: sandboxed } },
  },
  {
    id: "exec.unguarded",
    weight: "medium",
    bad: {
      config: exec({ host: "gateway" }),
      machine: {
        unguarded: () =>
          Promise.resolve({
            agents: ["main" as AgentId],
            reason: "bubblewrap is not installed",
            fix: "apt-get install bubblewrap",
          }),
      },
    },
    good: { config: exec({ host: "gateway" }) },
  },
  pair("sandbox.network-joined", "critical", docker({ network: "host" }), docker({ network: "none" })),
  pair("sandbox.network-joined", "critical", docker({ network: "container:other" }), docker({})),
  pair("sandbox.network", "medium", docker({ network: "bridge" }), docker({ network: "none" })),
  pair("sandbox.capabilities", "high", docker({ capDrop: ["NET_RAW"] }), docker({ capDrop: ["ALL"] })),
  pair("sandbox.writable-root", "low", docker({ readOnlyRoot: false }), docker({ readOnlyRoot: true })),
  pair(
    "sandbox.unconfined",
    "high",
    docker({ seccompProfile: "unconfined" }),
    docker({ seccompProfile: "/etc/my.json" }),
  ),
  pair("sandbox.image-option", "critical", docker({ image: "--privileged" }), docker({ image: "mine:1" })),
  pair(
    "sandbox.git-write",
    "medium",
    { agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw", gitWrite: true } } } },
    { agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw" } } } },
  ),
  pair(
    "sandbox.host-browser",
    "medium",
    { agents: { defaults: { sandbox: { mode: "all", browser: { allowHostControl: true } } } } },
    { agents: sandboxed },
  ),
  pair("sandbox.bind-fatal", "critical", docker({ binds: ["/:/h:ro"] }), docker({ binds: ["/srv/books:/books:ro"] })),
  pair(
    "sandbox.bind-fatal",
    "critical",
    docker({ binds: ["/var/run:/r"] }),
    docker({ binds: ["/etc/ssl/certs:/c:ro"] }),
  ),
  pair("sandbox.bind-fatal", "critical", docker({ binds: ["~:/home"] }), docker({ binds: ["~/music:/music:ro"] })),
  pair(
    "sandbox.bind-writable",
    "medium",
    docker({ binds: ["/srv/books:/books"] }),
    docker({ binds: ["/srv/books:/books:ro"] }),
  ),
  // commands
  pair(
    "exec.no-questions",
    "critical",
    exec({ host: "gateway", security: "full", ask: "off" }),
    exec({ host: "gateway", security: "allowlist", ask: "off" }),
  ),
  pair(
    "exec.full",
    "critical",
    exec({ host: "node", security: "full" }),
    exec({ host: "node", security: "full", ask: "always" }),
  ),
  pair(
    "exec.full-asked",
    "medium",
    exec({ host: "gateway", security: "full", ask: "always" }),
    exec({ host: "gateway", ask: "always" }),
  ),
  pair("exec.never-asks", "info", exec({ host: "gateway", ask: "off" }), exec({ host: "gateway" })),
  pair(
    "exec.no-questions",
    "critical",
    { agents: { list: [{ id: "a", tools: { exec: { host: "gateway", security: "full", ask: "off" } } }] } },
    {
      agents: {
        list: [{ id: "a", tools: { deny: ["exec"], exec: { host: "gateway", security: "full", ask: "off" } } }],
      },
    },
  ),
  pair(
    "exec.leaves-sandbox",
    "medium",
    exec({ host: "gateway" }, { agents: sandboxed }),
    exec({ host: "sandbox" }, { agents: sandboxed }),
  ),
  pair("exec.unsafe-bin", "high", exec({ safeBins: ["cut", "python3.12"] }), exec({ safeBins: ["cut", "jq"] })),
  pair("exec.idle-bin", "info", exec({ safeBins: ["cut", "cat"] }), exec({ safeBins: ["cut", "sort"] })),
  pair("exec.path-folder", "high", exec({ pathPrepend: ["bin"] }), exec({ pathPrepend: ["/usr/local/bin"] })),
  pair(
    "exec.path-folder",
    "high",
    exec({ pathPrepend: ["~/.openclaw/workspace/bin"] }),
    exec({ pathPrepend: ["~/bin"] }),
  ),
  pair(
    "exec.elevated-anyone",
    "critical",
    { tools: { elevated: { allowFrom: { discord: ["*"] } } } },
    { tools: { elevated: { allowFrom: { discord: ["123456789012345678"] } } } },
  ),
  pair(
    "exec.elevated-full",
    "high",
    { tools: { elevated: { allowFrom: { signal: ["+1555"] } } }, agents: { defaults: { elevatedDefault: "full" } } },
    { agents: { defaults: { elevatedDefault: "full" } } },
  ),
  pair("commands.no-groups", "high", { commands: { useAccessGroups: false } }, { commands: { useAccessGroups: true } }),
  pair(
    "commands.any-owner",
    "critical",
    { commands: { ownerAllowFrom: ["*"] } },
    { commands: { ownerAllowFrom: ["42"] } },
  ),
  pair("commands.bash", "medium", { commands: { bash: true } }, { commands: { bash: false } }),
  pair("commands.config", "medium", { commands: { config: true } }, {}),
  pair("commands.debug", "low", { commands: { debug: true } }, {}),
  // approvals
  { id: "approvals.unreadable", weight: "high", bad: { approvals: "{ not json" }, good: { approvals: { version: 1 } } },
  {
    id: "approvals.fallback-full",
    weight: "critical",
    bad: { approvals: { version: 1, defaults: { askFallback: "full" } } },
    good: { approvals: { version: 1, defaults: { askFallback: "deny" } } },
  },
  {
    id: "approvals.full",
    weight: "medium",
    bad: { approvals: { version: 1, agents: { main: { security: "full" } } } },
    good: { approvals: { version: 1, agents: { main: { security: "allowlist" } } } },
  },
  {
    id: "approvals.skills",
    weight: "low",
    bad: { approvals: { version: 1, defaults: { autoAllowSkills: true } } },
    good: { approvals: { version: 1, defaults: { autoAllowSkills: false } } },
  },
  {
    id: "approvals.dead-entry",
    weight: "info",
    bad: { approvals: allow("rg") },
    good: { approvals: allow("/usr/bin/rg") },
  },
  {
    id: "approvals.wide-entry",
    weight: "high",
    bad: { approvals: allow("/usr/bin/*") },
    good: { approvals: allow("/usr/bin/rg*") },
  },
  {
    id: "approvals.wide-entry",
    weight: "high",
    bad: { approvals: allow("/**") },
    good: { approvals: allow("/opt/tool/bin/tool") },
  },
  {
    id: "approvals.runs-others",
    weight: "high",
    bad: { approvals: allow("/usr/bin/env") },
    good: { approvals: allow("/usr/bin/uname") },
  },
  {
    id: "approvals.writable-entry",
    weight: "high",
    bad: { approvals: allow("/tmp/tool") },
    good: { approvals: allow("/usr/local/bin/tool") },
  },
  {
    id: "approvals.writable-entry",
    weight: "high",
    bad: { approvals: allow("~/.openclaw/workspace/bin/*-tool") },
    good: { approvals: allow("/usr/local/bin/*-tool") },
  },
  // agents
  pair("tools.whole-disk", "medium", {}, { tools: safeTools }),
  pair(
    "tools.wide-workspace",
    "high",
    { agents: { defaults: { workspace: "~" } } },
    { agents: { defaults: { workspace: "~/garden" } } },
  ),
  pair(
    "tools.wide-workspace",
    "high",
    { agents: { list: [{ id: "main" }, { id: "ops", workspace: "/" }] } },
    { agents: { list: [{ id: "main" }, { id: "ops", workspace: "~/ops" }] } },
  ),
  pair(
    "tools.open-to-strangers",
    "critical",
    telegram({ dmPolicy: "open", allowFrom: ["*"] }),
    telegram({ dmPolicy: "open", allowFrom: ["*"] }, { tools: { profile: "messaging" } }),
  ),
  pair(
    "tools.agents-see-all",
    "medium",
    { tools: { agentToAgent: { enabled: true } }, agents: { list: [{ id: "a" }, { id: "b" }] } },
    { tools: { agentToAgent: { enabled: true, allow: ["a"] } }, agents: { list: [{ id: "a" }, { id: "b" }] } },
  ),
  pair(
    "tools.cross-channel",
    "medium",
    { tools: { message: { crossContext: { allowAcrossProviders: true } } } },
    { tools: { message: { crossContext: { allowWithinProvider: true } } } },
  ),
  pair(
    "tools.dead-rule",
    "low",
    { tools: { deny: ["exec", "web_fecth"] } },
    { tools: { deny: ["exec", "web_fetch"] } },
  ),
  pair("tools.dead-rule", "medium", { tools: { allow: ["raed"] } }, { tools: { allow: ["read"] } }),
  // channels
  pair("channels.open-dm", "high", telegram({ dmPolicy: "open", allowFrom: ["*"] }), telegram({ dmPolicy: "pairing" })),
  pair("channels.open-dm", "high", telegram({ allowFrom: ["*"] }), telegram({ allowFrom: ["42"] })),
  pair(
    "channels.open-dm",
    "high",
    { channels: { discord: { dm: { policy: "open", allowFrom: ["*"] } } } },
    { channels: { discord: { dm: { policy: "pairing" } } } },
  ),
  pair(
    "channels.open-dm",
    "high",
    telegram({ accounts: { second: { dmPolicy: "open", allowFrom: ["*"] } } }),
    telegram({ accounts: { second: { enabled: false, dmPolicy: "open", allowFrom: ["*"] } } }),
  ),
  pair("channels.open-groups", "high", telegram({ groupPolicy: "open" }), telegram({ groupPolicy: "allowlist" })),
  pair(
    "channels.open-groups",
    "high",
    { channels: { defaults: { groupPolicy: "open" } } },
    { channels: { defaults: { groupPolicy: "allowlist" } } },
  ),
  pair(
    "channels.anyone-in-groups",
    "medium",
    telegram({ groupAllowFrom: ["*"] }),
    telegram({ groupAllowFrom: ["42"] }),
  ),
  pair(
    "channels.no-mention",
    "medium",
    telegram({ groups: { "*": { requireMention: false } } }),
    telegram({ groups: { "-100": { requireMention: false } } }),
  ),
  pair("channels.names", "medium", telegram({ allowFrom: ["@alice"] }), telegram({ allowFrom: ["42"] })),
  pair(
    "channels.open-webhook",
    "high",
    telegram({ webhookUrl: "https://me.example/t" }),
    telegram({ webhookUrl: "https://me.example/t", webhookSecret: strongToken }),
  ),
  pair(
    "channels.shared-session",
    "medium",
    telegram({ allowFrom: ["1", "2"] }),
    telegram({ allowFrom: ["1", "2"] }, { session: { dmScope: "per-channel-peer" } }),
  ),
  // hooks and plugins
  pair(
    "hooks.weak-token",
    "high",
    { hooks: { enabled: true, token: "hook" } },
    { hooks: { enabled: true, token: strongToken } },
  ),
  pair(
    "hooks.same-token",
    "critical",
    { gateway: { mode: "remote", remote: { token: strongToken } }, hooks: { enabled: true, token: strongToken } },
    {
      gateway: { mode: "remote", remote: { token: "another-0f1e2d3c4b5a6978" } },
      hooks: { enabled: true, token: strongToken },
    },
  ),
  pair(
    "hooks.unmarked",
    "high",
    { hooks: { enabled: true, token: strongToken, gmail: { allowUnsafeExternalContent: true } } },
    { hooks: { enabled: true, token: strongToken, gmail: {} } },
  ),
  pair(
    "hooks.chosen-session",
    "low",
    { hooks: { enabled: true, token: strongToken, mappings: [{ sessionKey: "hook:{{from}}" }] } },
    { hooks: { enabled: true, token: strongToken, mappings: [{ sessionKey: "hook:mail" }] } },
  ),
  pair(
    "hooks.writable-scripts",
    "medium",
    { hooks: { transformsDir: "~/.openclaw/workspace/hooks" } },
    { hooks: { transformsDir: "~/.openclaw/hooks" } },
  ),
  {
    id: "hooks.changed-script",
    weight: "medium",
    bad: {
      config: { hooks: { internal: { enabled: true, entries: { own: { enabled: true } } } } },
      prepare: writeHook,
    },
    good: { config: { hooks: { internal: { enabled: true, entries: { own: {} } } } }, prepare: writeHook },
  },
  pair(
    "plugins.writable",
    "critical",
    { plugins: { load: { paths: ["~/.openclaw/workspace/p"] } } },
    { plugins: { enabled: false, load: { paths: ["~/.openclaw/workspace/p"] } } },
  ),
  pair(
    "plugins.unlisted",
    "medium",
    { plugins: { load: { paths: ["/opt/p"] } } },
    { plugins: { load: { paths: ["/opt/p"] }, allow: ["p"] } },
  ),
  // secrets
  pair("secrets.plain", "low", gateway({}), { gateway: { auth: { token: "${MY_TOKEN}" } } }),
  pair(
    "secrets.unmasked",
    "medium",
    { logging: { redactSensitive: "off" } },
    { logging: { redactSensitive: "tools" } },
  ),
  {
    id: "secrets.repository",
    weight: "high",
    bad: { config: gateway({}), prepare: (state) => mkdirSync(join(state, ".git")) },
    good: { config: gateway({}) },
  },
  // files
  { id: "files.others-read", weight: "high", bad: { prepare: (state) => chmodSync(state, 0o755) }, good: {} },
  {
    id: "files.others-write",
    weight: "critical",
    bad: { config: {}, prepare: (state) => chmodSync(join(state, "openclaw.json"), 0o666) },
    good: { config: {} },
  },
  {
    id: "files.others-read",
    weight: "medium",
    bad: { approvals: { version: 1 }, prepare: (state) => chmodSync(join(state, "exec-approvals.json"), 0o644) },
    good: { approvals: { version: 1 } },
  },
  {
    id: "files.others-read",
    weight: "high",
    bad: { config: {}, prepare: (state) => writeFileSync(join(state, "openclaw.json.bak"), "{}", { mode: 0o644 }) },
    good: { config: {}, prepare: (state) => writeFileSync(join(state, "openclaw.json.bak"), "{}", { mode: 0o600 }) },
  },
  {
    id: "files.others-read",
    weight: "low",
    bad: { deep: true, prepare: (state) => writeFileSync(join(state, "odd"), "x", { mode: 0o644 }) },
    good: { prepare: (state) => writeFileSync(join(state, "odd"), "x", { mode: 0o644 }) },
  },
  {
    id: "files.parent",
    weight: "critical",
    bad: { prepare: (_state, home) => chmodSync(home, 0o777) },
    good: { prepare: (_state, home) => chmodSync(home, 0o1777) },
  },
  {
    id: "files.link",
    weight: "medium",
    bad: {
      prepare: (state, home) => (
        writeFileSync(join(home, "real.json"), "{}", { mode: 0o600 }),
        symlinkSync(join(home, "real.json"), join(state, "openclaw.json"))
      ),
    },
    good: { config: {} },
  },
  {
    id: "files.owner",
    weight: "high",
    bad: { machine: { userId: 4242 }, prepare: (state) => chownAway(state) },
    good: { prepare: () => {} },
  },
  // machine
  { id: "machine.root", weight: "high", bad: { machine: { userId: 0 } }, good: { machine: { userId: 4242 } } },
  {
    id: "machine.root",
    weight: "medium",
    bad: { config: { agents: sandboxed }, machine: { userId: 0 } },
    good: { config: { agents: sandboxed }, machine: { userId: 4242 } },
  },
  {
    id: "machine.engine-socket",
    weight: "high",
    bad: { machine: { userId: 4242, engineSockets: ["/run/docker.sock"] } },
    good: { machine: { userId: 4242 } },
  },
  {
    id: "machine.old-node",
    weight: "high",
    bad: { machine: { nodeVersion: "24.14.9" } },
    good: { machine: { nodeVersion: "25.0.0" } },
  },
  {
    id: "machine.node-options",
    weight: "medium",
    bad: { env: { NODE_OPTIONS: "--inspect=0.0.0.0" } },
    good: { env: { NODE_OPTIONS: "--max-old-space-size=512" } },
  },
  pair(
    "web.wide-exception",
    "medium",
    { tools: { ...safeTools, web: { allowPrivateHosts: ["10.0.0.0/8"] } } },
    { tools: { ...safeTools, web: { allowPrivateHosts: ["10.0.0.0/24", "localhost:8080"] } } },
  ),
  pair("config.invalid", "high", "{ gateway: { prot: 1 } }", "{ gateway: { port: 1234 } }"),
];

/** Without root the file stays ours and the test claims user 4242; either way the owner differs. */
function chownAway(state: string): void {
  assert.notEqual(statSync(state).uid, 4242);
}
