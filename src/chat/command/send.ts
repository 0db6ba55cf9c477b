// /send: whether replies of this session are delivered.
import { answered, type Command } from "../command-run.ts";

const policies: Readonly<Record<string, string | null>> = { on: "allow", off: "deny", inherit: null };

export const send: Command = {
  name: "send",
  takes: "on|off|inherit",
  summary: "Whether replies of this session are delivered",
  async answer(args, commandRun) {
    const word = args.trim().toLowerCase();
    if (word === "") {
      const { sendPolicy } = await commandRun.entry();
      return answered(`Delivery: ${sendPolicy ?? "as configured"}. Usage: /send on|off|inherit.`);
    }
    if (!Object.hasOwn(policies, word)) return answered(`Usage: /send on|off|inherit. Nothing was changed.`);
    // It overrides session.sendPolicy, which belongs to the owner.
    if (commandRun.context.admin !== true)
      return answered("Only a sender who may change settings can change the delivery. Nothing was changed.");
    await commandRun.patch({ sendPolicy: policies[word] });
    return answered(
      word === "inherit" ? "Delivery follows the config again." : `Delivery is now ${word} for this session.`,
    );
  },
};
