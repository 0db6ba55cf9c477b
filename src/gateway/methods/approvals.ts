// The exec approvals file of this host, over the wire.
import * as methods from "../../protocol/methods/approvals.ts";
import { readApprovals, withoutToken, writeApprovals } from "../../exec/approval/file.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export function approvalMethods({ paths }: GatewayContext): Served[] {
  return [
    serve(methods.approvalsGet, () => withoutToken(readApprovals(paths.state))),
    serve(methods.approvalsSet, ({ file, baseHash }) => withoutToken(writeApprovals(paths.state, file, baseHash))),
  ];
}
