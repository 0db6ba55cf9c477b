// /approve: answers a waiting approval.
import { answered, type Command } from "../scene.ts";

const answers: ReadonlySet<string> = new Set(["allow-once", "allow-always", "deny", "once", "always", "reject"]);

export const approve: Command = {
  name: "approve",
  takes: "<id> allow-once|allow-always|deny",
  summary: "Answer a waiting approval",
  async answer(args) {
    const [id, answer = "", ...more] = args.trim().split(/\s+/);
    if (id === undefined || !answers.has(answer.toLowerCase()) || more.length > 0) {
      return answered("Usage: /approve <id> allow-once|allow-always|deny. No approval is waiting.");
    }
    return answered(`No approval "${id.slice(0, 80)}" is waiting; nothing was approved.`);
  },
};
