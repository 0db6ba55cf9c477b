// Runs inside the sandbox of a browser: starts it and connects its two ports with sockets of the gateway, because the
// sandbox has no network. Arguments: port of CDP, port of the proxy, program, its arguments.
import { spawn } from "node:child_process";
import { connect, createServer, type Socket } from "node:net";

const [cdpPort, proxyPort, program = "", ...args] = process.argv.slice(2);

function join(client: Socket, target: Socket): void {
  for (const [one, other] of [
    [client, target],
    [target, client],
  ] as const) {
    one.pipe(other);
    one.once("error", () => other.destroy());
    one.once("close", () => other.destroy());
  }
}

createServer((client) => join(client, connect("/run/openclaw/out/proxy.sock"))).listen(Number(proxyPort), "127.0.0.1");
createServer((client) => join(client, connect(Number(cdpPort), "127.0.0.1"))).listen("/run/openclaw/in/cdp.sock");

const browser = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
browser.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
browser.once("exit", (code) => process.exit(code ?? 1));
process.once("SIGTERM", () => browser.kill("SIGTERM"));
