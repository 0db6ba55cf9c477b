// Whether this message may leave the sandbox: applies the gates of exec/elevated.ts to the sender of the chat.
import { elevationOf, type Elevation } from "../exec/elevated.ts";
import { senderOf } from "../session/sender.ts";
import type { CommandRun } from "./command-run.ts";

export async function elevationIn(commandRun: CommandRun): Promise<Elevation> {
  const { config, context, deps } = commandRun;
  const subject = await commandRun.subject();
  const { channel, senders } = senderOf(context.sessionKey, await commandRun.session());
  const { allowed, decidedBy } = deps.catalog.judge(subject, "exec").decision;
  const sender = context.approver?.sender;
  return elevationOf({
    config,
    agent: context.agentId,
    channel,
    senders: sender === undefined ? senders : [...senders, sender],
    subagent: subject.subagent,
    execAllowed: allowed,
    execKey: decidedBy?.path,
  });
}
