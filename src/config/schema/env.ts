// `env`: variables for those that are not set in the environment already.
import { Type } from "../../core/schema.ts";
import { flag, group, record, whole } from "./field.ts";

/** Any other key is a variable itself. */
export const env = Type.Optional(
  Type.Object(
    {
      vars: record("Variables by name.", Type.String()),
      shellEnv: group("Taking missing keys from your login shell.", {
        enabled: flag("Do it.", { default: false }),
        timeoutMs: whole("Milliseconds to wait for the shell.", { default: 15_000 }),
      }),
    },
    {
      description: "Variables used where the environment does not set them.",
      additionalProperties: Type.String({ description: "Value of this variable." }),
    },
  ),
);
