// The browser control service over the WebSocket.
import { returns, uncheckedMethod } from "../method.ts";

/** Parameters: method, path, query, body, timeoutMs, target, node. */
export const browserRequest = uncheckedMethod(
  "browser.request",
  "operator.write",
  returns<Readonly<Record<string, unknown>>>(),
);
