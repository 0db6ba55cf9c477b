// Serves the MCP server of the tests over standard input and output. FAKE_MANY and FAKE_CHANGED set its plan.
import { createInterface } from "node:readline";

import { fakeMcpServer, type RpcMessage } from "./mcp-tools.ts";

const write = (message: RpcMessage): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const server = fakeMcpServer(
  { many: Number(process.env["FAKE_MANY"] ?? 0), changedWhile: process.env["FAKE_CHANGED"] },
  write,
);
process.stderr.write("fake server is ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  void server.handle(JSON.parse(line) as RpcMessage).then((answer) => answer !== undefined && write(answer));
}
