// Rules across several keys of a channel; an account inherits unset keys from its channel.
import { isRecord } from "../core/record.ts";
import type { Finding } from "./check.ts";
import { type ConfigPath } from "./path.ts";
import type { Config } from "./schema/index.ts";

type Keys = Readonly<Record<string, unknown>>;

export function channelFindings(config: Config): Finding[] {
  const channels = Object.entries((config.channels ?? {}) as Record<string, unknown>);
  return channels.flatMap(([id, channel]): Finding[] => {
    if (id === "defaults" || !isRecord(channel)) return [];
    const path = ["channels", id];
    const accounts = Object.entries(isRecord(channel["accounts"]) ? channel["accounts"] : {});
    return [
      ...accessFindings(channel, path, channel, path),
      ...accounts.flatMap(([account, keys]) => {
        const at = [...path, "accounts", account];
        return isRecord(keys)
          ? [...accountIdFindings(account, at), ...accessFindings({ ...channel, ...keys }, at, keys, path)]
          : [];
      }),
    ];
  });
}

/** `merged` has the effective values, `own` those at `path`: an issue points to where the cause is written. */
function accessFindings(merged: Keys, path: ConfigPath, own: Keys, channelPath: ConfigPath): Finding[] {
  const at = (key: string): ConfigPath => [...(key in own ? path : channelPath), key];
  const dm = isRecord(merged["dm"]) ? merged["dm"] : {};
  const isAccount = path !== channelPath;
  const found: Finding[] = [];
  const openFlat = merged["dmPolicy"] === "open" && !hasStar(merged["allowFrom"]);
  const openDm = dm["policy"] === "open" && !hasStar(dm["allowFrom"]);
  if (openFlat && !(isAccount && !("dmPolicy" in own) && !("allowFrom" in own)))
    found.push(openFinding([...path, "allowFrom"], "dmPolicy"));
  if (openDm && !(isAccount && !("dm" in own))) found.push(openFinding([...path, "dm", "allowFrom"], "dm.policy"));
  const webhook = text(merged["webhookUrl"]) !== "" && "botToken" in merged && text(merged["webhookSecret"]) === "";
  if (webhook && (!isAccount || "webhookUrl" in own)) {
    found.push({
      path: at("webhookUrl"),
      message: "needs webhookSecret as well",
      hint: "without it anyone could send updates",
    });
  }
  return found;
}

function openFinding(path: ConfigPath, key: string): Finding {
  return {
    path,
    message: `must contain "*" while ${key} is open`,
    hint: `open accepts all senders; confirm it with "*", or use pairing`,
  };
}

/** Account ids become file names. */
function accountIdFindings(id: string, path: ConfigPath): Finding[] {
  if (/^[\w@+.-]{1,64}$/.test(id) && !/^\.+$/.test(id)) return [];
  return [
    { path, message: `${JSON.stringify(id)} cannot be an account id`, hint: "use letters, digits, - _ . @ and +" },
  ];
}

function hasStar(list: unknown): boolean {
  return Array.isArray(list) && list.includes("*");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
