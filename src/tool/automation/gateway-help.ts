// What the gateway tool tells a model that asks for help: read on demand, so it costs nothing until then.

export const help = `gateway: acts on the gateway you run in. Use it only when the user asked for the change. All but action and raw goes
inside more: {action: "config.get", more: {path: "ui"}}.

restart       delayMs (2000), reason, note. Needs commands.restart: true.
config.get    the config with secrets hidden, and its hash. path gives one part.
config.schema the sections; with path the keys below it, their types, defaults and meaning.
config.patch  raw: JSON5 merge patch. Objects merge, null removes, lists and values replace.
config.apply  raw: the whole new config as JSON5. Prefer config.patch.
update.run    updates a git checkout from its upstream and restarts; timeoutMs bounds it.

config.apply and config.patch also take note (told to you after the restart), delayMs (how long the restart waits, so
that your reply gets out), baseHash (refused with a diff when the file has changed since), sessionKey
(who is told; your own session when left out), timeoutMs. Comments and order in the file stay. __OPENCLAW_REDACTED__ keeps the secret it stands for.

A change that touches security (tools, sandbox, gateway, channels, commands, plugins, hooks, models, env and the like)
waits for the owner. You get approval-pending; do not repeat it. What comes of it follows as a System line.

Another gateway: gatewayUrl (ws:// on this machine, or gateway.remote.url) with its own gatewayToken.`;
