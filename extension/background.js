// The service worker: attaches a tab when the user clicks the icon, and carries CDP between attached tabs and the relay.
import { showBadge } from "./badge.js";
import { RelayLink } from "./relay-link.js";

/** Ids of attached tabs. Every command for another tab is refused here, whatever the relay asks. */
const attached = new Set();

const link = new RelayLink({
  message: (message) => void answer(message),
  isNeeded: () => attached.size > 0,
  async opened() {
    for (const tabId of attached) {
      await reset(tabId);
      await announce(tabId);
    }
  },
  closed(hasFailed) {
    for (const tabId of attached) {
      void showBadge(tabId, hasFailed ? "error" : "connecting");
      // Requests that the gateway paused would wait for it.
      reset(tabId).catch((error) => console.debug("reset", tabId, error.message));
    }
  },
});

/** The click on the icon: attaches the tab, or detaches it. */
async function toggle(tab) {
  if (attached.has(tab.id)) return detach(tab.id);
  await showBadge(tab.id, "connecting");
  try {
    await link.open();
    await attach(tab.id);
  } catch (error) {
    console.warn("attach failed", error.message);
    await showBadge(tab.id, "error");
  }
}

async function attach(tabId) {
  await chrome.debugger.attach({ tabId }, "1.3");
  attached.add(tabId);
  await announce(tabId);
}

async function announce(tabId) {
  const { targetInfo } = await chrome.debugger.sendCommand({ tabId }, "Target.getTargetInfo");
  link.send({ type: "attached", tabId, targetInfo });
  await showBadge(tabId, "on");
}

async function detach(tabId) {
  forget(tabId);
  await chrome.debugger.detach({ tabId });
}

function forget(tabId) {
  if (!attached.delete(tabId)) return;
  link.send({ type: "detached", tabId });
  void showBadge(tabId, "off");
}

/** A new client of the relay expects the events that follow `enable`; Chrome sends them only after `disable`. */
async function reset(tabId) {
  const commands = [
    ["Target.setAutoAttach", { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }],
    ...["Fetch", "Network", "Log", "Runtime", "Page"].map((domain) => [`${domain}.disable`, {}]),
  ];
  for (const [method, params] of commands) await chrome.debugger.sendCommand({ tabId }, method, params);
}

async function answer({ id, type, ...message }) {
  if (id === undefined) return;
  try {
    link.send({ type: "result", id, result: (await perform(type, message)) ?? {} });
  } catch (error) {
    link.send({ type: "result", id, error: plainMessage(error) });
  }
}

/** chrome.debugger reports the error of a command as JSON text. */
function plainMessage({ message }) {
  try {
    return JSON.parse(message).message;
  } catch {
    return message;
  }
}

async function perform(type, { tabId, sessionId, method, params, url }) {
  if (type === "open") return openTab(url);
  if (!attached.has(tabId)) throw new Error("the tab is not attached");
  switch (type) {
    case "command":
      return chrome.debugger.sendCommand(sessionId === undefined ? { tabId } : { tabId, sessionId }, method, params);
    case "close":
      return chrome.tabs.remove(tabId);
    case "activate":
      return chrome.tabs.update(tabId, { active: true });
    case "reset":
      return reset(tabId);
    default:
      throw new Error(`unknown request: ${type}`);
  }
}

/** Only while the user shares a tab. A tab opened here starts empty and shows the badge like any other. */
async function openTab(url) {
  if (attached.size === 0) throw new Error("no tab is attached");
  if (!/^(?:https?:|about:blank$)/.test(url)) throw new Error("only http and https pages can be opened");
  const { id } = await chrome.tabs.create({ url, active: false });
  await attach(id);
  return { tabId: id };
}

chrome.action.onClicked.addListener(toggle);
chrome.debugger.onEvent.addListener(({ tabId, sessionId }, method, params) => {
  if (attached.has(tabId)) link.send({ type: "event", tabId, sessionId, method, params });
});
chrome.debugger.onDetach.addListener(({ tabId }) => forget(tabId));
chrome.tabs.onRemoved.addListener(forget);
chrome.tabs.onUpdated.addListener((tabId, change, { title, url }) => {
  if (!attached.has(tabId)) return;
  link.send({ type: "updated", tabId, title, url });
  // A navigation clears the badge of the tab.
  if (change.status !== undefined) void showBadge(tabId, link.isOpen ? "on" : "connecting");
});
chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (message !== "state" || sender.id !== chrome.runtime.id) return false;
  respond({ isConnected: link.isOpen, tabs: attached.size });
  return false;
});

// For tests: a click on the toolbar icon cannot be made by a program.
globalThis.toggleTab = toggle;
