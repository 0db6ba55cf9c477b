// The `openclaw browser` commands: every name with its summary, and the file that has the command.
import type { Command, Entry } from "./command.ts";
import type { Group } from "./find.ts";

type Load = () => Promise<{ readonly commands: Readonly<Record<string, Command>> }>;

const manage: Load = () => import("./commands/browser-manage.ts");
const tabs: Load = () => import("./commands/browser-tabs.ts");
const inspect: Load = () => import("./commands/browser-inspect.ts");
const act: Load = () => import("./commands/browser-act.ts");
const state: Load = () => import("./commands/browser-state.ts");

export const browserGroups: readonly Group[] = [
  {
    path: ["browser"],
    summary: "Control a browser: start it, open and read pages, click and type.",
    bare: "status",
    options: {
      "browser-profile": "string",
      url: "string",
      token: "string",
      password: "string",
      timeout: "string",
      "expect-final": "boolean",
    },
  },
  { path: ["browser", "cookies"], summary: "Read and change cookies.", bare: "list" },
  { path: ["browser", "extension"], summary: "The extension that shares tabs of your own Chrome." },
  { path: ["browser", "set"], summary: "How the browser presents itself to pages." },
  { path: ["browser", "storage"], summary: "The storage of the open site." },
  { path: ["browser", "storage", "local"], summary: "Local storage of the open site.", bare: "get" },
  { path: ["browser", "storage", "session"], summary: "Session storage of the open site.", bare: "get" },
  { path: ["browser", "tab"], summary: "Tabs by their position in the list.", bare: "list" },
  { path: ["browser", "trace"], summary: "Record a Playwright trace." },
];

const rows: readonly (readonly [words: string, summary: string, load: Load])[] = [
  ["click", "Click an element of the last snapshot.", act],
  ["close", "Close a tab.", tabs],
  ["console", "Show the console messages of the page.", inspect],
  ["cookies clear", "Remove all cookies.", state],
  ["cookies list", "List the cookies.", state],
  ["cookies set", "Set a cookie.", state],
  ["create-profile", "Create a browser profile.", manage],
  ["delete-profile", "Stop the browser of a profile and delete the profile.", manage],
  ["dialog", "Answer the next dialog that the page opens.", act],
  ["download", "Click an element and save the file that it offers.", act],
  ["drag", "Drag one element onto another.", act],
  ["errors", "Show uncaught errors of the page.", inspect],
  ["evaluate", "Run a function in the page and print its result.", act],
  ["extension install", "Copy the Chrome extension to a folder that Chrome can load.", manage],
  ["extension path", "Print the folder of the Chrome extension.", manage],
  ["fill", "Fill in several fields of a form.", act],
  ["focus", "Bring a tab to the front.", tabs],
  ["highlight", "Draw a frame around an element.", act],
  ["hover", "Move the mouse over an element.", act],
  ["navigate", "Open a URL in the current tab.", act],
  ["open", "Open a URL in a new tab.", tabs],
  ["pdf", "Save the page as PDF.", inspect],
  ["press", "Press a key.", act],
  ["profiles", "List the browser profiles and their state.", manage],
  ["requests", "List the network requests of the page.", inspect],
  ["reset-profile", "End a browser that was left behind and blocks a profile.", manage],
  ["resize", "Change the size of the page.", act],
  ["responsebody", "Wait for a response and print its body.", inspect],
  ["screenshot", "Save a picture of the page or of an element.", inspect],
  ["scrollintoview", "Scroll until an element is visible.", act],
  ["select", "Choose options of a list.", act],
  ["set credentials", "Answer HTTP Basic logins.", state],
  ["set device", "Emulate a phone or tablet.", state],
  ["set geo", "Set the position that pages can read.", state],
  ["set headers", "Send extra headers with every request.", state],
  ["set locale", "Set the language of dates and numbers.", state],
  ["set media", "Choose dark or light colors.", state],
  ["set offline", "Turn the network of pages off or on.", state],
  ["set timezone", "Set the time zone of the page.", state],
  ["set viewport", "Change the size of the page (same as browser resize).", state],
  ["snapshot", "Print the page as text with references for its elements.", inspect],
  ["start", "Start the browser, unless it runs.", manage],
  ["status", "Show whether the browser runs and which one it is.", manage],
  ["stop", "Stop the browser.", manage],
  ["storage local clear", "Remove all entries of the local storage.", state],
  ["storage local get", "Print entries of the local storage.", state],
  ["storage local set", "Set an entry of the local storage.", state],
  ["storage session clear", "Remove all entries of the session storage.", state],
  ["storage session get", "Print entries of the session storage.", state],
  ["storage session set", "Set an entry of the session storage.", state],
  ["tab close", "Close a tab by its position.", tabs],
  ["tab list", "List the tabs (same as browser tabs).", tabs],
  ["tab new", "Open an empty tab.", tabs],
  ["tab select", "Use a tab by its position.", tabs],
  ["tabs", "List the tabs.", tabs],
  ["trace start", "Start to record a trace.", act],
  ["trace stop", "End the trace and save it.", act],
  ["type", "Type text into a field.", act],
  ["upload", "Choose files for the next file chooser or a file input.", act],
  ["wait", "Wait until text, a URL, an element or a state is there.", act],
  ["waitfordownload", "Wait for the next download and save it.", act],
];

export const browserEntries: readonly Entry[] = rows.map(([words, summary, load]) => ({
  path: ["browser", ...words.split(" ")],
  summary,
  async load() {
    const command = (await load()).commands[words];
    if (command === undefined) throw new Error(`browser ${words} has no command`);
    return { command };
  },
}));
