// Whether the gateway has a secret that cannot be guessed.
import { newSecret } from "../../base/ids.ts";
import { editConfig } from "../../config/change.ts";
import { sharedSecret, variableOf } from "../../gateway/secret.ts";
import { ok, type Check, type Finding } from "./check.ts";

const MIN_LENGTH = 20;
const common = /^(?:change-?me|secret|password|token|test|admin|openclaw|moltbot|1234)/i;

export const secret: Check = {
  name: "Secret",
  needsConfig: true,
  run({ paths, env, loaded }) {
    if (loaded.config.gateway?.mode === "remote") return [ok("the gateway is on another machine")];
    const { mode, value } = sharedSecret(loaded.config, loaded.env);
    const key = `gateway.auth.${mode}`;
    const written = sharedSecret(loaded.config, { OPENCLAW_GATEWAY_AUTH: mode }).value;
    const overridden: Finding[] =
      written === undefined || written === value
        ? []
        : [
            {
              level: "note",
              message: `${variableOf[mode]} overrides a different value of ${key}`,
              hint: `unset ${variableOf[mode]}, or: openclaw config unset ${key}`,
            },
          ];
    if (value === undefined) {
      return [
        {
          level: "warn",
          message: `no ${mode} is set: only paired devices can connect, and this command line is not paired yet`,
          hint: `openclaw config set ${key} $(openssl rand -hex 24)`,
          ...(loaded.exists && mode === "token"
            ? {
                repair: {
                  does: "write a random gateway.auth.token",
                  apply: () =>
                    void editConfig({ paths, env }, () => [{ path: key, value: newSecret(24) }], { stepwise: true }),
                },
              }
            : {}),
        },
      ];
    }
    if (value.length >= MIN_LENGTH && !common.test(value) && new Set(value).size > 7)
      return [ok(`the ${mode} is long enough`), ...overridden];
    return [
      ...overridden,
      {
        level: "warn",
        message: `the ${mode} can be guessed: it is short or a common word`,
        hint: `openclaw config set ${key} $(openssl rand -hex 24), then openclaw gateway restart`,
      },
    ];
  },
};
