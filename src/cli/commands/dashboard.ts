// `openclaw dashboard`: prints a link that opens the Control UI and pairs the browser.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { toJson } from "../print.ts";
import { readUncheckedConfig, requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "The link contains a code that works once, for ten minutes. You need not copy anything into the page.",
  options: {
    "no-open": { type: "boolean", description: "Only print the link." },
    ...wireOptions,
  },
  examples: [
    { line: "dashboard", does: "print the link and open it" },
    { line: "dashboard --no-open", does: "print it, to open it elsewhere" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const unchecked = await readUncheckedConfig(io);
    const target = await targetOf(io, options, unchecked);
    const { code, expiresAtMs } = await withGateway(io, target, (client) => client.call("device.pair.code", {}));
    const base = (unchecked.text("gateway.controlUi.basePath") ?? "/").replace(/\/*$/, "/").replace(/^\/*/, "/");
    const url = `${target.url.replace(/^ws/, "http")}${base}#pair=${encodeURIComponent(code)}`;
    io.print(io.json ? toJson({ url, expiresAtMs }) : url);
    if (io.json) return 0;
    if (options["no-open"] === true || !io.interactive)
      io.say("Open it once to pair that browser. It expires after ten minutes.");
    else await openBrowser(url, io);
    return 0;
  },
});

async function openBrowser(url: string, io: Io): Promise<void> {
  const { spawn } = await import("node:child_process");
  const [program, ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  const child = spawn(program ?? "xdg-open", [...args, url], { stdio: "ignore", detached: true });
  const failed = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(true));
    child.once("spawn", () => resolve(false));
  });
  child.unref();
  io.say(failed ? "No browser could be started; open the link by hand." : "Opening it in your browser …");
}
