// The references of one run: a bare node:http JSON echo and a bare ws echo, in one process of their own.
import { WebSocketServer } from "ws";

const http = process.getBuiltinModule("node:http");
const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("connection", (socket) => socket.on("message", (bytes: Buffer) => socket.send(bytes.toString())));
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
