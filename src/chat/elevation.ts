// Whether this message may leave the sandbox: the gates of exec/elevated.ts, with what the chat knows of the sender.
import { elevationOf, type Elevation } from "../exec/elevated.ts";
import { speakerOf } from "../session/sender.ts";
import type { CommandRun } from "./command-run.ts";

export async function elevationIn(scene: CommandRun): Promise<Elevation> {
  const { config, context, deps } = scene;
  const subject = await scene.subject();
  const { channel, senders } = speakerOf(context.sessionKey, await scene.session());
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
