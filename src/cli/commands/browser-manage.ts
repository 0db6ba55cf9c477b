// `openclaw browser` commands that start, stop and list browsers, their profiles and the Chrome extension.
import { portsOf } from "../../browser/profiles.ts";
import { browserCommand, listOf, textOf, type Answer, type BrowserClient } from "../browser-request.ts";
import { defineCommand, UsageError, type Command } from "../command.ts";
import type { Io } from "../io.ts";
import { columns, counted, shortPath, table, toJson } from "../print.ts";
import { readUncheckedConfig } from "../settings.ts";

export const commands: Readonly<Record<string, Command>> = {
  status: browserCommand({
    examples: [
      { line: "browser status", does: "the default profile" },
      { line: "browser --browser-profile work status --json", does: "all facts about another one" },
    ],
    request: (client) => client.get("/"),
    text: statusText,
  }),
  start: browserCommand({
    examples: [{ line: "browser start", does: "other commands start it by themselves" }],
    request: (client) => change(client, "/start"),
    text: statusText,
  }),
  stop: browserCommand({
    examples: [{ line: "browser stop", does: "tabs are closed; cookies and logins stay" }],
    request: (client) => change(client, "/stop"),
    text: statusText,
  }),
  "reset-profile": browserCommand({
    details: "Ends a browser that was left behind and still uses the port or the data folder of the profile.",
    examples: [{ line: "browser --browser-profile work reset-profile", does: "then start works again" }],
    request: (client) => client.post("/reset-profile"),
    text: (answer) =>
      Number(answer["killed"]) > 0 ? `Ended ${counted(Number(answer["killed"]), "browser")}.` : "Nothing to reset.",
  }),
  profiles: browserCommand({
    examples: [{ line: "browser profiles", does: "which exist and which run" }],
    request: (client) => client.get("/profiles"),
    text: (answer, _given, io) => profileLines(listOf(answer, "profiles"), io).join("\n"),
  }),
  "create-profile": browserCommand({
    options: {
      name: { type: "string", value: "name", description: "1 to 64 lower-case letters, digits and hyphens." },
      color: { type: "string", value: "#rrggbb", description: "Color of its window." },
      "cdp-url": { type: "string", value: "url", description: "Debugging URL of a browser elsewhere; attach only." },
      driver: {
        type: "string",
        choices: ["openclaw", "extension"],
        description: "Start a browser of its own, or use tabs of your own Chrome.",
      },
    },
    examples: [
      { line: "browser create-profile --name work --color #00AA00", does: "a browser with its own logins" },
      { line: "browser create-profile --name far --cdp-url http://10.0.0.7:9222", does: "a browser elsewhere" },
    ],
    request: (client, { options: { name, color, driver, "cdp-url": cdpUrl } }) =>
      client.post("/profiles/create", { name: required("name", name), color, cdpUrl, driver }),
    text: (answer) =>
      `Created profile ${textOf(answer, "profile")}${answer["isRemote"] === true ? "" : ` (port ${textOf(answer, "cdpPort")})`}.`,
  }),
  "delete-profile": browserCommand({
    options: { name: { type: "string", value: "name", description: "The profile." } },
    examples: [{ line: "browser delete-profile --name work", does: "its data is moved to the trash" }],
    request: (client, { options: { name } }) =>
      client.remove(`/profiles/${encodeURIComponent(required("name", name))}`),
    text: (answer) =>
      `Deleted profile ${textOf(answer, "profile")}.${answer["trash"] === undefined ? "" : ` Its data is in ${textOf(answer, "trash")}`}`,
  }),
  "extension install": defineCommand({
    details: "Copies the extension into the state folder. Chrome loads it from there, and updates do not move it.",
    examples: [{ line: "browser extension install", does: "prints what to click in Chrome" }],
    async run(io) {
      const { installExtension } = await import("../../browser/extension-files.ts");
      const { path, port } = installExtension(io.paths().state, await relayPort(io));
      io.print(io.json ? toJson({ path, port }) : installed(path));
      return 0;
    },
  }),
  "extension path": defineCommand({
    examples: [{ line: "browser extension path", does: "the folder to load in Chrome" }],
    async run(io) {
      const { extensionPath, isExtensionInstalled } = await import("../../browser/extension-files.ts");
      const { state } = io.paths();
      const path = extensionPath(state);
      const isInstalled = isExtensionInstalled(state);
      io.print(io.json ? toJson({ path, installed: isInstalled }) : path);
      if (!isInstalled) io.say("It is not installed yet: openclaw browser extension install");
      return isInstalled ? 0 : 1;
    },
  }),
};

/** As status, because that is what the caller wants to know next. */
async function change(client: BrowserClient, path: string): Promise<Answer> {
  await client.post(path);
  return client.get("/");
}

function required(name: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}

function statusText(answer: Answer, _given: unknown, io: Io): string {
  const isRunning = answer["running"] === true;
  const browser = textOf(answer, "chosenBrowser") || textOf(answer, "detectedBrowser") || "none found";
  const path = textOf(answer, "detectedExecutablePath");
  const facts: [string, string][] = [
    ["Profile", textOf(answer, "profile")],
    ["State", isRunning ? "running" : "stopped"],
    ["Browser", path === "" ? browser : `${browser} (${shortPath(path, io)})`],
    ["Debugging", textOf(answer, "cdpUrl")],
    ["Process", textOf(answer, "pid")],
    ["Data", shortPath(textOf(answer, "userDataDir"), io)],
    ["Color", textOf(answer, "color")],
    ["Problem", textOf(answer, "detectError")],
  ];
  const settings = ["headless", "noSandbox", "attachOnly"].filter((name) => answer[name] === true);
  return columns(
    [...facts, ["Settings", settings.join(", ")] as const].filter(([, text]) => text !== ""),
    io,
  ).join("\n");
}

function profileLines(profiles: readonly Answer[], io: Io): string[] {
  return table(
    profiles,
    [
      { title: "Profile", text: (row) => `${textOf(row, "name")}${row["isDefault"] === true ? " (default)" : ""}` },
      {
        title: "State",
        text: (row) =>
          row["running"] === true ? `running, ${counted(Number(row["tabCount"] ?? 0), "tab")}` : "stopped",
        paint: (cell, row) => (row["running"] === true ? io.paint.good(cell) : io.paint.dim(cell)),
      },
      { title: "Where", text: (row) => (row["isRemote"] === true ? "remote" : `port ${textOf(row, "cdpPort")}`) },
      { title: "Color", text: (row) => textOf(row, "color") },
      { title: "URL", text: (row) => textOf(row, "cdpUrl") },
    ],
    io,
  );
}

async function relayPort(io: Io): Promise<number> {
  const unchecked = await readUncheckedConfig(io);
  const fromEnv = Number(unchecked.env["OPENCLAW_GATEWAY_PORT"]);
  return portsOf(fromEnv > 0 ? fromEnv : unchecked.number("gateway.port")).relay;
}

function installed(path: string): string {
  return [
    path,
    "",
    "1. Open chrome://extensions in Chrome and turn on Developer mode.",
    "2. Choose Load unpacked and select the folder above.",
    "3. Open the page to share and click the OpenClaw icon: the badge shows ON.",
    "4. Restart a gateway that is already running: openclaw gateway restart",
  ].join("\n");
}
