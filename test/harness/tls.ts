// A way to a gateway for tests: through another machine, so that the gateway treats the caller as remote, or through TLS.
import { generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

export interface Way {
  readonly port: number;
  /** How many got through. */
  readonly passed: () => number;
  readonly close: () => void;
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** SHA-256, with colons. */
  readonly fingerprint: string;
}

/** `from` is what the gateway sees as the address of the client. */
export async function openWay(to: number, plan: { from?: string; tls?: Certificate } = {}): Promise<Way> {
  const open = new Set<Socket>();
  let passed = 0;
  const pass = (near: Socket): void => {
    passed += 1;
    const far = connect(to, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => other.destroy());
    }
    near.once("data", (first: Buffer) => {
      const head = plan.from === undefined ? "\r\n" : `\r\nX-Forwarded-For: ${plan.from}\r\n`;
      far.write(first.toString("latin1").replace("\r\n", head), "latin1");
      near.pipe(far);
    });
    far.pipe(near);
  };
  const server: Server = plan.tls === undefined ? createServer(pass) : createTlsServer(plan.tls, pass);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    passed: () => passed,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Signed by itself, so trusted by nobody who does not know it. */
export function selfSigned(name = "gateway.test"): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, Buffer.from("06082a8648ce3d040302", "hex"));
  const subject = der(0x30, der(0x31, der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from(name)))));
  const validity = der(0x30, der(0x17, Buffer.from("250101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    subject,
    validity,
    subject,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = sign("sha256", body, privateKey);
  const whole = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), signature));
  const cert = new X509Certificate(whole);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: cert.toString(),
    fingerprint: cert.fingerprint256,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
