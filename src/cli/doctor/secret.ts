// Has the gateway a secret, and could anybody guess it.
import { newSecret } from "../../base/ids.ts";
import { editText } from "../../config/edit.ts";
import { sharedSecret, variableOf } from "../../gateway/secret.ts";
import { ok, type Check, type Finding } from "./check.ts";
import { rewriteConfig } from "./rewrite.ts";

const LEAST_LENGTH = 20;
const common = /^(?:change-?me|secret|password|token|test|admin|openclaw|moltbot|1234)/i;

export const secret: Check = {
  name: "Secret",
  needsConfig: true,
  look({ io, loaded }) {
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
              message: `${variableOf[mode]} is set and wins over another value in ${key}`,
              hint: `unset ${variableOf[mode]}, or: openclaw config unset ${key}`,
            },
          ];
    if (value === undefined) {
      return [
        {
          level: "warn",
          message: `no ${mode} is set: only paired devices can connect, and this command is none of them yet`,
          hint: `openclaw config set ${key} $(openssl rand -hex 24)`,
          ...(loaded.exists && mode === "token"
            ? {
                repair: {
                  does: "write a random gateway.auth.token",
                  apply: () => rewriteConfig(io, (text) => editText(text, [{ path: key, value: newSecret(24) }])),
                },
              }
            : {}),
        },
      ];
    }
    if (value.length >= LEAST_LENGTH && !common.test(value) && new Set(value).size > 7)
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
