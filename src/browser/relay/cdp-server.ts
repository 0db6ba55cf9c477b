// Plays the browser for one CDP client: emulates the Browser and Target domains over the tabs that the user attached.
import type { RawData, WebSocket } from "ws";

import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { AttachedTab, ExtensionLink, TabEvent } from "./extension-link.ts";

type Params = Readonly<Record<string, unknown>>;

interface Command {
  readonly id: number;
  readonly method: string;
  readonly params: Params;
  readonly sessionId: string | undefined;
}

type WireCommand = Omit<Command, "params"> & { readonly params?: Params };

/** A session of the client on a tab. The first one of a tab receives the events of child targets. */
interface TabSession {
  readonly tab: AttachedTab;
  readonly isFirst: boolean;
  /** It pauses the requests of the tab; only one session can. */
  pausesRequests: boolean;
}

const BROWSER_TARGET = "openclaw-relay";

export class CdpServer {
  readonly #link: ExtensionLink;
  readonly #log: Log;
  #client: WebSocket | undefined;
  #autoAttach = false;
  readonly #sessions = new Map<string, TabSession>();
  readonly #browserSessions = new Set<string>();
  /** Child targets by their session id: the id that the browser gave. */
  readonly #children = new Map<string, AttachedTab>();
  /**
   * The requests for the frames, by session id. Chrome delivers events and results to an extension in any order, and a
   * client drops events of frames that it does not know yet; so later commands wait until it does.
   */
  readonly #trees = new Map<string, Promise<void>>();

  constructor(link: ExtensionLink, log: Log) {
    this.#link = link;
    this.#log = log;
    link.listener = {
      attached: (tab) => this.#attached(tab),
      detached: (tab) => this.#detached(tab),
      updated: (tab) => this.#send({ method: "Target.targetInfoChanged", params: { targetInfo: infoOf(tab) } }),
      event: (event) => this.#event(event),
    };
  }

  /** One client at a time: the newest connection of the gateway counts. */
  accept(client: WebSocket): void {
    this.close();
    this.#client = client;
    client.on("message", (data) => void this.#receive(client, data));
    client.on("error", (error) => this.#log.debug("cdp socket failed", { error: error.message }));
    client.on("close", () => {
      if (this.#client === client) this.close();
    });
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.close();
    this.#autoAttach = false;
    this.#sessions.clear();
    this.#children.clear();
    this.#trees.clear();
    this.#browserSessions.clear();
    if (client === undefined) return;
    for (const tabId of this.#link.tabs.keys())
      this.#link
        .reset(tabId)
        .catch((error: unknown) => this.#log.debug("tab reset failed", { tabId, error: String(error) }));
  }

  async #receive(client: WebSocket, data: RawData): Promise<void> {
    const { id, method, params = {}, sessionId } = JSON.parse((data as Buffer).toString("utf8")) as WireCommand;
    const reply = (outcome: object): void => {
      if (this.#client === client) this.#send({ id, ...outcome, ...(sessionId === undefined ? {} : { sessionId }) });
    };
    try {
      reply({ result: await this.#run({ id, method, params, sessionId }) });
    } catch (error) {
      reply({ error: { code: -32_000, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  async #run({ method, params, sessionId }: Command): Promise<Params> {
    if (sessionId === undefined || this.#browserSessions.has(sessionId)) return this.#runOnBrowser(method, params);
    const session = this.#sessions.get(sessionId);
    const tab = session?.tab ?? this.#children.get(sessionId);
    if (tab === undefined) throw new Error("Session with given id not found.");
    if (method === "Target.getTargetInfo" && session !== undefined) return { targetInfo: infoOf(tab) };
    if (method === "Target.detachFromTarget" || method === "Target.closeTarget")
      return this.#runOnBrowser(method, params);
    if (/^(?:Target|Browser|SystemInfo)\./.test(method) && method !== "Target.setAutoAttach") throw refused(method);
    // The sessions of a tab share one debugger: a second one may not switch off what the first one uses.
    if (session?.isFirst === false && /\.(?:disable|setAutoAttach)$/.test(method)) return {};
    if (session !== undefined && method.startsWith("Fetch.")) this.#claimRequests(session);
    const send = () => this.#link.command(tab.tabId, session === undefined ? sessionId : undefined, method, params);
    const result = this.#trees.get(sessionId)?.then(send) ?? send();
    if (method === "Page.getFrameTree") this.#trees.set(sessionId, settled(result));
    return result;
  }

  async #runOnBrowser(method: string, params: Params): Promise<Params> {
    switch (method) {
      case "Browser.getVersion":
        return { ...this.#link.version, protocolVersion: "1.3", revision: "", jsVersion: "" };
      case "Browser.setDownloadBehavior":
        // The user's browser keeps the user's download settings.
        return {};
      case "Target.setAutoAttach":
        return this.#setAutoAttach(params["autoAttach"] === true);
      case "Target.setDiscoverTargets":
        return {};
      case "Target.getTargets":
        return { targetInfos: [...this.#link.tabs.values()].map(infoOf) };
      case "Target.getTargetInfo":
        return { targetInfo: params["targetId"] === undefined ? browserInfo : infoOf(this.#tab(params["targetId"])) };
      case "Target.attachToBrowserTarget": {
        const sessionId = newId();
        this.#browserSessions.add(sessionId);
        return { sessionId };
      }
      case "Target.attachToTarget":
        return { sessionId: this.#openSession(this.#tab(params["targetId"]), false) };
      case "Target.detachFromTarget":
        this.#sessions.delete(String(params["sessionId"]));
        this.#trees.delete(String(params["sessionId"]));
        this.#browserSessions.delete(String(params["sessionId"]));
        return {};
      case "Target.createTarget":
        return this.#createTarget(params);
      case "Target.closeTarget":
        await this.#link.closeTab(this.#tab(params["targetId"]).tabId);
        return { success: true };
      case "Target.activateTarget":
        await this.#link.activateTab(this.#tab(params["targetId"]).tabId);
        return {};
      default:
        throw refused(method);
    }
  }

  /** Two sessions would both answer for each paused request. */
  #claimRequests(session: TabSession): void {
    const isTaken = this.#sessions.values().some((one) => one.tab === session.tab && one.pausesRequests);
    if (!isTaken) session.pausesRequests = true;
    else if (!session.pausesRequests) throw new Error("the requests of this tab are already checked by the relay");
  }

  #setAutoAttach(isOn: boolean): Params {
    const wasOn = this.#autoAttach;
    this.#autoAttach = isOn;
    if (isOn && !wasOn) for (const tab of this.#link.tabs.values()) this.#attached(tab);
    return {};
  }

  /** The click on one tab is the permission to work in this browser; a tab we open ourselves holds nothing of the user. */
  async #createTarget(params: Params): Promise<Params> {
    if (this.#link.tabs.size === 0)
      throw new Error("no tab is attached: the user has to click the OpenClaw icon first");
    const url = params["url"];
    const { targetId } = await this.#link.openTab(typeof url === "string" && url !== "" ? url : "about:blank");
    return { targetId };
  }

  /** With one attached tab an id that is no longer valid means that tab. */
  #tab(targetId: unknown): AttachedTab {
    const [only, ...others] = this.#link.tabs.values();
    const found = this.#link.tabOf(String(targetId)) ?? (others.length === 0 ? only : undefined);
    if (found === undefined) throw new Error("No target with given id found");
    return found;
  }

  #openSession(tab: AttachedTab, isFirst: boolean): string {
    const sessionId = newId();
    this.#sessions.set(sessionId, { tab, isFirst, pausesRequests: false });
    return sessionId;
  }

  #attached(tab: AttachedTab): void {
    if (this.#client === undefined || !this.#autoAttach) return;
    const sessionId = this.#openSession(tab, true);
    const targetInfo = infoOf(tab);
    this.#send({ method: "Target.attachedToTarget", params: { sessionId, targetInfo, waitingForDebugger: false } });
  }

  #detached(tab: AttachedTab): void {
    for (const [sessionId, child] of this.#children) if (child === tab) this.#forgetChild(sessionId);
    for (const [sessionId, session] of this.#sessions) {
      if (session.tab !== tab) continue;
      this.#sessions.delete(sessionId);
      this.#trees.delete(sessionId);
      this.#send({ method: "Target.detachedFromTarget", params: { sessionId, targetId: tab.targetId } });
    }
  }

  #event({ tabId, sessionId, method, params }: TabEvent): void {
    const tab = this.#link.tabs.get(tabId);
    if (tab === undefined) return;
    if (method === "Target.attachedToTarget") this.#children.set(String(params["sessionId"]), tab);
    if (method === "Target.detachedFromTarget") this.#forgetChild(String(params["sessionId"]));
    if (sessionId !== undefined) {
      if (this.#children.has(sessionId)) this.#send({ sessionId, method, params });
      return;
    }
    for (const [id, session] of this.#sessions)
      if (session.tab === tab && isFor(session, method)) this.#send({ sessionId: id, method, params });
  }

  #forgetChild(sessionId: string): void {
    this.#children.delete(sessionId);
    this.#trees.delete(sessionId);
  }

  #send(message: object): void {
    this.#client?.send(JSON.stringify(message));
  }
}

/** The caller of the command gets its error. */
const settled = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined,
  );

function isFor({ isFirst, pausesRequests }: TabSession, method: string): boolean {
  if (method.startsWith("Target.")) return isFirst;
  return method.startsWith("Fetch.") ? pausesRequests : true;
}

const browserInfo = { targetId: BROWSER_TARGET, type: "browser", title: "", url: "", attached: true };

function infoOf({ info, targetId, title, url }: AttachedTab): Params {
  return { ...info, targetId, title, url, type: "page", attached: true };
}

function refused(method: string): Error {
  return new Error(`${method} is not available through the extension relay: it controls attached tabs only`);
}
