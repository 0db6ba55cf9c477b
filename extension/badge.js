// The badge on the toolbar icon of a tab: ON attached, … connecting, ! relay not reachable.

const states = {
  on: { text: "ON", color: "#1B7F3B", title: "OpenClaw controls this tab. Click to detach." },
  connecting: { text: "…", color: "#B36B00", title: "OpenClaw: connecting to the relay" },
  error: {
    text: "!",
    color: "#B3261E",
    title: "OpenClaw: the relay is not reachable. Start the gateway, then click again.",
  },
  off: { text: "", color: "#555555", title: "OpenClaw: attach this tab" },
};

export async function showBadge(tabId, state) {
  const { text, color, title } = states[state];
  try {
    await chrome.action.setBadgeText({ tabId, text });
    await chrome.action.setBadgeBackgroundColor({ tabId, color });
    await chrome.action.setTitle({ tabId, title });
  } catch (error) {
    // The tab was closed meanwhile.
    console.debug("badge", tabId, error.message);
  }
}
