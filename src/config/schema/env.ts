// `env`: variables that are set when the environment does not have them.
import { Type } from "../../core/schema.ts";
import { flag, group, record, whole } from "./field.ts";

/** Every other key is a variable itself. */
export const env = Type.Optional(
  Type.Object(
    {
      vars: record("Variables by name.", Type.String()),
      shellEnv: group("Reads missing variables from your login shell.", {
        enabled: flag("Enables reading from the login shell.", { default: false }),
        timeoutMs: whole("Milliseconds to wait for the shell.", { default: 15_000 }),
      }),
    },
    {
      description: "Variables that apply when the environment does not set them.",
      additionalProperties: Type.String({ description: "Value of this variable." }),
    },
  ),
);
