// Decides whether a target may be reached: its name, then every address it resolves to.
import type { networkInterfaces } from "node:os";

import { classifyAddress } from "./address.ts";
import type { Exceptions } from "./exceptions.ts";
import { isOnThisLink, isThisMachine } from "./own-addresses.ts";
import { guardError, isGuardError } from "./reasons.ts";
import type { Address, Resolve } from "./resolve.ts";
import { isBadPort, isPrivateName, type Target } from "./target.ts";

export interface Rules {
  readonly resolve: Resolve;
  readonly exceptions: Exceptions;
  readonly gatewayPorts: ReadonlySet<number>;
  readonly interfaces: typeof networkInterfaces;
}

/** The checked addresses; the connection goes to them and the name is not resolved again. */
export async function admit(target: Target, rules: Rules): Promise<readonly Address[]> {
  judgeName(target, rules);
  if (target.isAddress) {
    const own = [{ address: target.host, family: target.host.includes(":") ? 6 : 4 }];
    judgeAnswers(target, own, rules);
    return own;
  }
  const answers = await rules.resolve(target.host).catch((cause: unknown) => {
    throw isGuardError(cause) ? cause : guardError("guard.dns", target.host, cause);
  });
  judgeAnswers(target, answers, rules);
  return answers;
}

export function judgeName({ host, port, isAddress }: Target, { exceptions }: Rules): void {
  if (isPrivateName(host) && exceptions.find(host, port, "") === undefined)
    throw guardError("guard.private-name", host);
  if (!isAddress && isBadPort(port)) throw guardError("guard.port", String(port));
}

/** Every answer must be allowed: a name with one public and one private address is an attack. Returns the exception used. */
export function judgeAnswers(
  { host, port }: Target,
  answers: readonly Address[],
  { exceptions, gatewayPorts, interfaces }: Rules,
): string | undefined {
  if (answers.length === 0) throw guardError("guard.dns", host);
  let exception: string | undefined;
  for (const { address } of answers) {
    const named = address === host ? address : `${host} is ${address}`;
    if (gatewayPorts.has(port) && isThisMachine(address, interfaces())) throw guardError("guard.own-gateway", named);
    const kind = classifyAddress(address);
    if (kind === "public" && !isOnThisLink(address, interfaces())) continue;
    if (kind === "metadata") throw guardError("guard.metadata", named);
    const entry = kind === "private" || kind === "public" ? exceptions.find(host, port, address) : undefined;
    if (entry === undefined) throw guardError("guard.private-address", named);
    exception = entry;
  }
  // Last, because a private address is the better reason.
  if (isBadPort(port)) throw guardError("guard.port", String(port));
  return exception;
}
