// The browsers of this machine by profile: started or attached on first use, found again after a restart, closed when idle.
import { join } from "node:path";

import { untilAborted } from "../base/abort.ts";
import { createLanes } from "../base/lane.ts";
import type { Log } from "../base/log.ts";
import type { Env, Paths } from "../base/paths.ts";
import type { Edit } from "../config/edit.ts";
import type { Config } from "../config/schema/index.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import { BrowserConnection } from "./connection.ts";
import { discover, type Endpoint } from "./endpoint.ts";
import { Downloads } from "./downloads.ts";
import { browserError } from "./errors.ts";
import type { SpawnBrowser } from "./launch.ts";
import { createGuardedSpawn, type HiddenPaths } from "./spawn-guarded.ts";
import { endHolders, findManaged, openManaged, type ManagedBrowser, type ManagedOptions } from "./managed-browser.ts";
import { OwnerHosts } from "./owner-hosts.ts";
import { PageGuard } from "./page-guard.ts";
import { hasDisplay, requireProgram } from "./program.ts";
import { maskUrl, profilesOf, type Ports, type Profile } from "./profiles.ts";
import type { LazyRelay } from "./relay/lazy-relay.ts";

export interface BrowserDeps {
  readonly paths: Pick<Paths, "state">;
  readonly env: Env;
  readonly config: () => Config;
  /** Writes the config file and applies it. Absent where profiles cannot be created, such as in a sandbox. */
  readonly editConfig?: ((edits: readonly Edit[]) => Promise<void>) | undefined;
  readonly ports: () => Ports;
  readonly guard: Guard;
  readonly media: MediaStore;
  readonly log: Log;
  /** The relay to the user's own browser; absent in a sandbox. */
  readonly relay?: LazyRelay | undefined;
  /** Starts the browser elsewhere than on the host, such as in a sandbox. */
  readonly spawnBrowser?: SpawnBrowser | undefined;
  /** Milliseconds until a started browser has to answer. */
  readonly startMs?: number | undefined;
  /** Default: those of the config. */
  readonly profiles?: (() => readonly Profile[]) | undefined;
  /** The gateway's own files, which a browser on the host does not see. */
  readonly hiddenPaths?: HiddenPaths | undefined;
}

const CONNECT_MS = 10_000;
const LOCAL_ANSWER_MS = 1000;
const REMOTE_ANSWER_MS = 1500;
const IDLE_MINUTES = 30;

/** What is open for one profile. */
interface Slot {
  managed: ManagedBrowser | undefined;
  connection: BrowserConnection | undefined;
  calls: number;
  idle: NodeJS.Timeout | undefined;
  /** The browser ended by itself, and no caller knows yet. */
  hasLoss: boolean;
  /** A call failed when the connection broke. */
  isLossKnown: boolean;
}

export class Browsers {
  readonly deps: BrowserDeps;
  readonly #slots = new Map<string, Slot>();
  /** Starts and stops of one profile run one after another. */
  readonly #lanes = createLanes();
  readonly #closing = new AbortController();

  readonly #spawnGuarded: SpawnBrowser | undefined;

  constructor(deps: BrowserDeps) {
    this.deps = deps;
    this.#spawnGuarded = deps.hiddenPaths && createGuardedSpawn(deps.hiddenPaths, deps.log);
  }

  profiles(): readonly Profile[] {
    return this.deps.profiles?.() ?? profilesOf(this.deps.config(), this.deps.ports());
  }

  folder({ name }: Profile): string {
    return join(this.deps.paths.state, "browser", name);
  }

  /** Milliseconds that a browser has to answer whether it is there. */
  answerMs({ kind }: Profile): number {
    return kind === "remote" ? (this.deps.config().browser?.remoteCdpTimeoutMs ?? REMOTE_ANSWER_MS) : LOCAL_ANSWER_MS;
  }

  /** A browser is not idle while work uses it. */
  async use<T>({ name }: Profile, work: () => Promise<T>): Promise<T> {
    const slot = this.#slot(name);
    slot.calls++;
    clearTimeout(slot.idle);
    try {
      return await work();
    } finally {
      slot.calls--;
      this.#waitUntilIdle(name, slot);
    }
  }

  /** The connection of a running browser; undefined when it does not run. Never starts one. */
  async running(profile: Profile, signal: AbortSignal): Promise<BrowserConnection | undefined> {
    return this.#inLane(profile, signal, async (slot) => {
      const open = await this.#usable(profile, slot);
      if (open !== undefined) return open;
      if (profile.kind === "relay")
        return (await this.deps.relay?.opened())?.hasTab() === true ? this.#attach(profile, slot) : undefined;
      if (profile.kind === "managed" && !this.#isForeign(profile)) {
        slot.managed ??= await findManaged(this.#managedOptions(profile));
        return slot.managed === undefined ? undefined : this.#attach(profile, slot);
      }
      return (await this.#answers(profile)) ? this.#attach(profile, slot) : undefined;
    });
  }

  /** Starts the browser of a managed profile when it does not run. The start continues when the caller gives up. */
  async open(profile: Profile, signal: AbortSignal): Promise<BrowserConnection> {
    return this.#inLane(profile, signal, async (slot) => {
      const open = await this.#usable(profile, slot);
      // The relay stays connected without a tab, and says then what the user has to do.
      if (open !== undefined && profile.kind === "relay") await this.#relayEndpoint();
      if (open !== undefined) return open;
      if (profile.kind !== "managed") return this.#attach(profile, slot);
      if (this.#isForeign(profile) && (await this.#answers(profile))) return this.#attach(profile, slot);
      this.#requireStartable(profile);
      const options = this.#managedOptions(profile);
      const wasOpen = slot.managed !== undefined;
      slot.managed ??= await openManaged(options, this.#closing.signal);
      try {
        return await this.#attach(profile, slot);
      } catch (error) {
        // A browser that was found may hang; one that was just started would fail again.
        if (!wasOpen && !slot.managed.isFound) throw error;
        this.deps.log.warn("the browser does not answer, it is started again", { profile: profile.name });
        slot.hasLoss ||= wasOpen && !slot.isLossKnown;
        await this.#stop(slot);
        slot.managed = await openManaged(options, this.#closing.signal);
        return this.#attach(profile, slot);
      }
    });
  }

  /** Ends the browser of a managed profile and leaves any other. False when none was open. */
  async stop(profile: Profile): Promise<boolean> {
    return this.#lanes.run(profile.name, async () => {
      const slot = this.#slot(profile.name);
      if (profile.kind === "managed" && !this.#isForeign(profile))
        slot.managed ??= await findManaged(this.#managedOptions(profile));
      return this.#stop(slot);
    });
  }

  /** Ends whatever uses the data folder of a managed profile, ours or not. Returns how many browsers there were. */
  async reset(profile: Profile): Promise<number> {
    const wasOpen = await this.stop(profile);
    const others = await this.#lanes.run(profile.name, () => endHolders(this.folder(profile)));
    return others + (wasOpen ? 1 : 0);
  }

  /** The process of a managed browser that runs under this gateway. */
  processOf({ name }: Profile): ManagedBrowser["record"] | undefined {
    const managed = this.#slots.get(name)?.managed;
    return managed?.isAlive() === true ? managed.record : undefined;
  }

  /** True once after the browser ended by itself. */
  takeLoss({ name }: Profile): boolean {
    const slot = this.#slot(name);
    const { hasLoss } = slot;
    slot.hasLoss = false;
    return hasLoss;
  }

  /** A caller was told that the connection broke. */
  noteLoss({ name }: Profile): void {
    Object.assign(this.#slot(name), { hasLoss: false, isLossKnown: true });
  }

  /** After a crash of the last gateway: takes its browsers over, so that they are closed when idle, or ends them. */
  async recover(): Promise<void> {
    for (const profile of this.profiles())
      if (profile.kind === "managed")
        await this.use(profile, async () => {
          await this.#lanes.run(profile.name, async () => {
            this.#slot(profile.name).managed ??= await findManaged(this.#managedOptions(profile));
          });
        });
  }

  /** Ends browsers of profiles that are gone or have moved. */
  async reload(): Promise<void> {
    const isEnabled = this.deps.config().browser?.enabled ?? true;
    const kept = new Map(isEnabled ? this.profiles().map((profile) => [profile.name, profile]) : []);
    for (const [name, slot] of this.#slots) {
      const cdpUrl = kept.get(name)?.cdpUrl;
      const hasMoved = slot.connection !== undefined && slot.connection.profile.cdpUrl !== cdpUrl;
      if (cdpUrl === undefined || hasMoved) await this.#lanes.run(name, () => this.#stop(slot));
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(browserError("browser.gone", "the gateway is closing"));
    await Promise.all([...this.#slots].map(([name, slot]) => this.#lanes.run(name, () => this.#stop(slot))));
    await this.deps.relay?.close();
  }

  #slot(name: string): Slot {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const slot = {
      managed: undefined,
      connection: undefined,
      calls: 0,
      idle: undefined,
      hasLoss: false,
      isLossKnown: false,
    };
    this.#slots.set(name, slot);
    return slot;
  }

  async #inLane<T>({ name }: Profile, signal: AbortSignal, work: (slot: Slot) => Promise<T>): Promise<T> {
    this.#closing.signal.throwIfAborted();
    return untilAborted(
      this.#lanes.run(name, () => work(this.#slot(name))),
      signal,
    );
  }

  /** The open connection; tidies up what is left of a browser that ended. */
  async #usable(profile: Profile, slot: Slot): Promise<BrowserConnection | undefined> {
    const { connection, managed } = slot;
    const isAlive = managed?.isAlive() ?? true;
    if (connection?.isConnected === true && isAlive && connection.profile.cdpUrl === profile.cdpUrl) return connection;
    if (connection !== undefined || !isAlive) {
      slot.hasLoss ||= !isAlive && !slot.isLossKnown;
      if (isAlive && connection?.profile.cdpUrl === profile.cdpUrl) slot.connection = undefined;
      else await this.#stop(slot);
    }
    return undefined;
  }

  async #stop(slot: Slot): Promise<boolean> {
    const { connection, managed } = slot;
    slot.connection = undefined;
    slot.managed = undefined;
    clearTimeout(slot.idle);
    await connection?.close();
    await managed?.stop();
    return connection !== undefined || managed !== undefined;
  }

  #waitUntilIdle(name: string, slot: Slot): void {
    clearTimeout(slot.idle);
    const minutes = this.deps.config().browser?.idleMinutes ?? IDLE_MINUTES;
    if (minutes === 0 || slot.calls > 0 || (slot.managed === undefined && slot.connection === undefined)) return;
    slot.idle = setTimeout(() => {
      this.#lanes
        .run(name, async () => {
          if (slot.calls > 0 || !(await this.#stop(slot))) return;
          this.deps.log.info("closed an idle browser", { profile: name, minutes });
        })
        .catch((error: unknown) => this.deps.log.warn("could not close an idle browser", { error: String(error) }));
    }, minutes * 60_000);
    slot.idle.unref();
  }

  /** A browser that the owner runs: it is used as it is when it answers. */
  #isForeign(profile: Profile): boolean {
    return profile.isUrlGiven || this.deps.config().browser?.attachOnly === true;
  }

  async #answers(profile: Profile): Promise<boolean> {
    return (await discover(profile.cdpUrl, this.answerMs(profile))) !== undefined;
  }

  #requireStartable({ name, cdpUrl }: Profile): void {
    if (this.deps.config().browser?.attachOnly !== true) return;
    throw browserError(
      "browser.attach-only",
      `Browser attachOnly is enabled and profile "${name}" is not reachable at ${maskUrl(cdpUrl)}`,
      { hint: "start that browser yourself, or: openclaw config set browser.attachOnly false" },
    );
  }

  #managedOptions(profile: Profile): ManagedOptions {
    const { env, guard, log, spawnBrowser, config, startMs } = this.deps;
    const { executablePath, headless = !hasDisplay(env), noSandbox = false } = config().browser ?? {};
    return {
      profile,
      folder: this.folder(profile),
      env,
      guard,
      log,
      headless,
      noSandbox,
      spawn: spawnBrowser ?? this.#spawnGuarded,
      startMs,
      program: () => requireProgram(env, executablePath).path,
    };
  }

  async #attach(profile: Profile, slot: Slot): Promise<BrowserConnection> {
    const { guard, config, log, media } = this.deps;
    const isRemote = profile.kind === "remote";
    const endpoint = profile.kind === "relay" ? await this.#relayEndpoint() : await this.#endpoint(profile);
    const { managed } = slot;
    const connection = await BrowserConnection.open({
      profile,
      endpoint,
      pages: new PageGuard({ guard, owners: managed?.owners ?? new OwnerHosts(), proxy: managed?.proxy }),
      downloads: new Downloads(media),
      timeoutMs: isRemote ? CONNECT_MS + (config().browser?.remoteCdpHandshakeTimeoutMs ?? 0) : CONNECT_MS,
      onLost: () => {
        // Stopping clears the slot first.
        if (slot.connection === connection) log.warn("the connection to a browser ended", { profile: profile.name });
      },
    });
    slot.connection = connection;
    slot.isLossKnown = false;
    return connection;
  }

  async #endpoint(profile: Profile): Promise<Endpoint> {
    const endpoint = await discover(profile.cdpUrl, CONNECT_MS);
    if (endpoint !== undefined) return endpoint;
    throw browserError(
      "browser.not-reachable",
      `the browser of profile "${profile.name}" does not answer at ${maskUrl(profile.cdpUrl)}`,
      { hint: profile.kind === "remote" ? "check that it runs and that its URL and token are right" : RESET },
    );
  }

  async #relayEndpoint(): Promise<Endpoint> {
    const relay = await this.deps.relay?.get();
    if (relay === undefined)
      throw browserError("browser.not-reachable", "there is no extension relay here", {
        hint: 'use profile "openclaw"',
      });
    return relay.endpoint();
  }
}

const RESET = "openclaw browser reset-profile";
