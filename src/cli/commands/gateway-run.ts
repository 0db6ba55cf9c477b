// `openclaw gateway run`: runs the gateway in the foreground.
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";

export const command = defineCommand({
  details:
    "One port for the page, HTTP and WebSocket. It listens on this machine only, unless gateway.bind or --bind says otherwise.",
  options: {
    port: {
      type: "string",
      value: "port",
      description: "Port to listen on (default: OPENCLAW_GATEWAY_PORT, then gateway.port, then 18789).",
    },
    bind: {
      type: "string",
      value: "mode",
      choices: ["loopback", "lan", "tailnet", "auto", "custom"],
      description: "Addresses to listen on (default: gateway.bind, then loopback).",
    },
    auth: {
      type: "string",
      value: "kind",
      choices: ["token", "password"],
      description: "Kind of secret that clients must send.",
    },
    token: {
      type: "string",
      value: "token",
      description: "Token for this run (default: OPENCLAW_GATEWAY_TOKEN, then gateway.auth.token).",
    },
    password: { type: "string", value: "password", description: "Password for this run." },
    setup: {
      type: "boolean",
      description: "Write a first config, or add what is missing for a first start, then start.",
    },
    "allow-unconfigured": { type: "boolean", description: "Start although gateway.mode is not local." },
    verbose: { type: "boolean", description: "Show debug lines on the console." },
  },
  examples: [
    {
      line: "gateway run --setup",
      does: "first start: writes a config with a random token and prints the link to the page",
    },
    { line: "gateway run --port 18900 --verbose", does: "another port, with debug lines on the console" },
    { line: "--dev gateway run", does: "a second gateway with its own state, on port 19001" },
  ],
  exits: "0 stopped by a signal, 1 could not start or failed, 2 wrong usage",
  async run(io, { options }) {
    const { token, password } = options;
    const auth = secretKind(options.auth, token, password);
    const { runGateway } = await import("../../lifecycle/run.ts");
    return runGateway({
      env: io.env,
      profile: io.profile,
      port: wholeNumber("port", options.port, { min: 0, max: 65_535 }) ?? (await profilePort(io)),
      bind: options.bind,
      auth,
      token,
      password,
      setup: options.setup,
      allowUnconfigured: options["allow-unconfigured"],
      verbose: options.verbose,
    });
  },
});

/** A secret given by a flag decides the kind. */
function secretKind(auth: string | undefined, token: string | undefined, password: string | undefined) {
  const given = password !== undefined ? "password" : token !== undefined ? "token" : undefined;
  const both = token !== undefined && password !== undefined;
  if (both || (auth !== undefined && given !== undefined && auth !== given)) {
    throw new UsageError(`--auth, --token and --password contradict each other; choose one kind of secret`, [
      "gateway",
      "run",
    ]);
  }
  return auth === "password" || auth === "token" ? auth : given;
}

/** The dev profile has its own port, unless the environment or its config names one. */
async function profilePort(io: Io): Promise<number | undefined> {
  if (io.profile !== "dev") return undefined;
  const [{ readUncheckedConfig }, { wantedPort }] = await Promise.all([
    import("../settings.ts"),
    import("../target.ts"),
  ]);
  return wantedPort(io, await readUncheckedConfig(io));
}
