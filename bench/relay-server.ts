// The bare reference for streaming: reads the model's stream and relays each piece to every connected client.
import { WebSocketServer } from "ws";

const http = process.getBuiltinModule("node:http");
const url = process.argv[2] ?? "";
const server = http.createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("connection", (socket) =>
  socket.on("message", () => {
    const request = http.request(
      `${url}/chat/completions`,
      { method: "POST", headers: { "content-type": "application/json" } },
      (response) => {
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          for (const client of sockets.clients) client.send(text);
        });
        response.on("end", () => {
          for (const client of sockets.clients) client.send("end");
        });
      },
    );
    request.end('{"messages":[]}');
  }),
);
server.listen(0, "127.0.0.1", () => console.log((server.address() as { port: number }).port));
