// `openclaw browser` commands for tabs.
import { OpenClawError } from "../../core/error.ts";
import { browserCommand, listOf, textOf, type Answer, type BrowserClient } from "../browser-request.ts";
import { UsageError, type Argument, type Command } from "../command.ts";
import type { Io } from "../io.ts";
import { table } from "../print.ts";

const position: Argument = { name: "number", description: "Position in the list of tabs, from 1." };

const list = browserCommand({
  examples: [
    { line: "browser tabs", does: "number, id, title and URL of each tab" },
    { line: "browser tab", does: "the same list" },
  ],
  request: (client) => client.get("/tabs"),
  text: (answer, _given, io) => tabLines(listOf(answer, "tabs"), io).join("\n"),
});

export const commands: Readonly<Record<string, Command>> = {
  tabs: list,
  "tab list": list,
  "tab new": browserCommand({
    examples: [{ line: "browser tab new", does: "an empty tab" }],
    request: (client) => client.post("/tabs/open", { url: "about:blank" }),
    text: openedText,
  }),
  "tab select": browserCommand({
    arguments: [position],
    examples: [{ line: "browser tab select 2", does: "later commands use the second tab" }],
    request: async (client, { arguments: [number = ""] }) =>
      client.post("/tabs/focus", { targetId: await tabAt(client, number) }),
    text: (answer) => `Selected tab ${textOf(answer, "targetId")}.`,
  }),
  "tab close": browserCommand({
    arguments: [{ ...position, optional: true }],
    examples: [{ line: "browser tab close 2", does: "the second tab; without a number the last used one" }],
    request: async (client, { arguments: [number] }) =>
      closeTab(client, number === undefined ? undefined : await tabAt(client, number)),
    text: () => "Closed.",
  }),
  open: browserCommand({
    arguments: [{ name: "url", description: "An http or https URL." }],
    examples: [{ line: "browser open https://example.com", does: "in a new tab, which later commands use" }],
    request: (client, { arguments: [url = ""] }) => client.post("/tabs/open", { url }),
    text: openedText,
  }),
  focus: browserCommand({
    arguments: [{ name: "targetId", description: "Id of the tab, or the start of it." }],
    examples: [{ line: "browser focus 5F3A", does: "brings the tab to the front" }],
    request: (client, { arguments: [targetId = ""] }) => client.post("/tabs/focus", { targetId }),
    text: (answer) => `Focused tab ${textOf(answer, "targetId")}.`,
  }),
  close: browserCommand({
    arguments: [
      {
        name: "targetId",
        description: "Id of the tab, or the start of it (default: the last used one).",
        optional: true,
      },
    ],
    examples: [
      { line: "browser close", does: "the tab that was used last" },
      { line: "browser close 5F3A", does: "one tab" },
    ],
    request: (client, { arguments: [targetId] }) => closeTab(client, targetId),
    text: () => "Closed.",
  }),
};

function closeTab(client: BrowserClient, targetId: string | undefined): Promise<Answer> {
  if (targetId === undefined) return client.post("/act", { kind: "close" });
  return client.remove(`/tabs/${encodeURIComponent(targetId)}`);
}

async function tabAt(client: BrowserClient, number: string): Promise<string> {
  if (!/^[1-9]\d{0,5}$/.test(number)) throw new UsageError(`<number> must be a position from 1, not ${number}`);
  const tabs = listOf(await client.get("/tabs"), "tabs");
  const tab = tabs[Number(number) - 1];
  if (tab !== undefined) return textOf(tab, "targetId");
  throw new OpenClawError("browser.tab-not-found", `there is no tab ${number}; ${tabs.length} are open`, {
    hint: "openclaw browser tabs",
  });
}

function openedText(answer: Answer): string {
  return `Opened ${textOf(answer, "url")} in tab ${textOf(answer, "targetId")}.`;
}

function tabLines(tabs: readonly Answer[], io: Io): string[] {
  if (tabs.length === 0) return ["No tabs are open."];
  const numbered = tabs.map((tab, at) => ({ ...tab, number: at + 1 }));
  return table<Answer>(
    numbered,
    [
      { title: "#", text: (tab) => textOf(tab, "number") },
      { title: "Tab", text: (tab) => textOf(tab, "targetId") },
      { title: "Title", text: (tab) => textOf(tab, "title").slice(0, 50) },
      { title: "URL", text: (tab) => textOf(tab, "url") },
    ],
    io,
  );
}
