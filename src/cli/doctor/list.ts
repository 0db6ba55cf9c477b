// All checks, in the order in which people want to read them.
import { approvals } from "./approvals.ts";
import { security } from "./audit.ts";
import type { Check } from "./check.ts";
import { config } from "./config.ts";
import { exposure } from "./exposure.ts";
import { fileModes } from "./file-modes.ts";
import { gateway } from "./gateway.ts";
import { guard } from "./guard.ts";
import { hooks } from "./hooks.ts";
import { node } from "./node.ts";
import { sandbox } from "./sandbox.ts";
import { secret } from "./secret.ts";
import { state } from "./state.ts";
import { store } from "./store.ts";
import { toolLists } from "./tool-lists.ts";

export const checks: readonly Check[] = [
  node,
  state,
  fileModes,
  config,
  toolLists,
  secret,
  exposure,
  sandbox,
  approvals,
  guard,
  hooks,
  security,
  store,
  gateway,
];
