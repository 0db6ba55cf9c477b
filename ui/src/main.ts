// Starts the page: reads the link, opens the key of this browser, connects and renders.
import { followApprovals } from "./approvals.ts";
import { Client } from "./client.ts";
import { keyProblemOf, openIdentity, type Identity } from "./identity.ts";
import { openKeyStore } from "./key-store.ts";
import { readLink } from "./link.ts";
import { Shell } from "./shell.ts";
import { createStore, firstState, type PageState, type Store } from "./state.ts";
import { createMemoryStorage, createCredentialStore } from "./credential-store.ts";

declare const __PAGE_VERSION__: string;

void start();

async function start(): Promise<void> {
  const link = readAndCleanLink();
  const store = createStore({ ...firstState, refusedToken: link.refusedToken });
  const identity = await tryIdentity();
  const isReady = "deviceId" in identity;
  store.update(isReady ? { deviceId: identity.deviceId } : { keyProblem: identity.problem });
  const basePath = new URL("./", location.href).pathname;
  const credentials = createCredentialStore(openStorage(), basePath);
  const client = new Client({
    url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${basePath}`,
    version: __PAGE_VERSION__,
    store,
    credentials,
    identity: isReady ? identity : undefined,
    secrets: {
      ...credentials.read(isReady ? identity.deviceId : undefined),
      ...(link.code === undefined ? {} : { link: link.code }),
    },
  });
  const page = new Shell();
  page.app = { client, store };
  document.body.prepend(page);
  listen(client, store);
  followApprovals(client, store);
  client.start();
}

/** Removes secrets from the address bar before anything else. */
function readAndCleanLink(): ReturnType<typeof readLink> {
  const link = readLink(location.href);
  if (link.cleanUrl !== undefined) history.replaceState(null, "", link.cleanUrl);
  return link;
}

async function tryIdentity(): Promise<Identity | { readonly problem: string }> {
  const problem = keyProblemOf(window);
  if (problem !== undefined) return { problem };
  try {
    return await openIdentity(openKeyStore(indexedDB));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      problem: `This browser could not create or store a device key (${reason}). Use a current browser that is not in private mode.`,
    };
  }
}

function openStorage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  try {
    return window.localStorage;
  } catch {
    return createMemoryStorage(); // storage is forbidden: the page works until the tab is closed
  }
}

function listen(client: Client, store: Store<PageState>): void {
  const reconnect = (): void => {
    const isUseful = store.value.connection.phase === "lost" && document.visibilityState === "visible";
    if (isUseful) client.retryNow();
  };
  // Pasting a second link into an open tab changes only the fragment.
  window.addEventListener("hashchange", () => {
    const { code } = readAndCleanLink();
    if (code !== undefined) client.present({ link: code });
  });
  window.addEventListener("online", reconnect);
  document.addEventListener("visibilitychange", reconnect);
}
