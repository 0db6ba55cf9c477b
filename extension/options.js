// The options page: shows whether the relay answers, and keeps port and token.
import { readSettings } from "./settings.js";

const [state, port, token] = ["state", "port", "token"].map((id) => document.getElementById(id));

async function showState() {
  const settings = await readSettings();
  const [isReachable, worker] = await Promise.all([answers(settings.port), chrome.runtime.sendMessage("state")]);
  state.textContent = isReachable
    ? `The relay answers on port ${settings.port}. Attached tabs: ${worker?.tabs ?? 0}.`
    : `The relay does not answer on port ${settings.port}. Start it with: openclaw gateway`;
}

async function answers(relayPort) {
  try {
    const response = await fetch(`http://127.0.0.1:${relayPort}/`, { signal: AbortSignal.timeout(2000) });
    return response.ok && (await response.json()).relay === "openclaw";
  } catch {
    return false;
  }
}

const settings = await readSettings();
port.value = settings.port;
token.value = settings.token;
document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await chrome.storage.local.set({ port: Number(port.value), token: token.value.trim() });
  await showState();
});
await showState();
setInterval(showState, 3000);
