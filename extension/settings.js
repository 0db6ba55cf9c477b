// The port and token of the relay: the file that `openclaw browser extension install` wrote, or what the options say.

export async function readSettings() {
  const [file, { port, token }] = await Promise.all([readFile(), chrome.storage.local.get(["port", "token"])]);
  return { port: port ?? file.port ?? 18_792, token: token ?? file.token ?? "" };
}

async function readFile() {
  try {
    return await (await fetch(chrome.runtime.getURL("relay.json"))).json();
  } catch {
    // Loaded from another folder than the installed one: the options hold port and token.
    return {};
  }
}
