// The load every server of a run gets: the same HTTP and WebSocket clients for the bare one and for ours.
import { Agent, request } from "node:http";
import type { WebSocket } from "ws";

export interface HttpTarget {
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Latencies in ms of `total` requests with `clients` in flight on kept connections, and the wall time. */
export async function loadHttp(
  target: HttpTarget,
  clients: number,
  total: number,
): Promise<{ latencies: number[]; seconds: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const latencies: number[] = [];
  let left = total;
  const from = performance.now();
  const client = async (): Promise<void> => {
    while (left-- > 0) latencies.push(await once(target, agent));
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - from) / 1000;
  agent.destroy();
  return { latencies, seconds };
}

function once({ port, path, headers, body }: HttpTarget, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        agent,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.on("end", () =>
          response.statusCode === 200
            ? resolve(performance.now() - from)
            : reject(new Error(`status ${response.statusCode}`)),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Answers per second with `inFlight` requests open at once; `frame` makes the text of request `i`. */
export function loadSocket(
  socket: WebSocket,
  inFlight: number,
  total: number,
  frame: (i: number) => string,
): Promise<number> {
  return new Promise((resolve) => {
    let sent = 0;
    let received = 0;
    const from = performance.now();
    const onMessage = (bytes: Buffer): void => {
      if (bytes.includes('"type":"event"')) return;
      received += 1;
      if (sent < total) socket.send(frame(sent++));
      if (received < total) return;
      socket.off("message", onMessage);
      resolve(total / ((performance.now() - from) / 1000));
    };
    socket.on("message", onMessage);
    while (sent < inFlight) socket.send(frame(sent++));
  });
}
