// The default browser of the operating system, when it is one that we can drive.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import type { Env } from "../base/paths.ts";

export type BrowserKind = "chrome" | "brave" | "edge" | "chromium" | "canary";

const ASK_MS = 2000;

/** Undefined for a browser of another family, and when the system does not tell. */
export function defaultBrowser(platform: NodeJS.Platform, env: Env): BrowserKind | undefined {
  if (platform === "darwin")
    return kindOf(handlerOnMac(ask("defaults", ["read", "com.apple.LaunchServices/com.apple.launchservices.secure"])));
  if (platform === "win32") return kindOf(handlerOnWindows(ask("reg", ["query", USER_CHOICE, "/v", "ProgId"])));
  return kindOf(handlerOnLinux(env));
}

const USER_CHOICE = String.raw`HKCU\Software\Microsoft\Windows\Shell\Associations\UrlAssociations\http\UserChoice`;

/** The first of the files of the MIME applications specification that names one. */
function handlerOnLinux(env: Env): string | undefined {
  const home = env["HOME"] ?? homedir();
  const list = (name: string, usual: string): string[] => (env[name] || usual).split(":").filter((one) => one !== "");
  const data = [env["XDG_DATA_HOME"] || join(home, ".local", "share")];
  const folders = [
    env["XDG_CONFIG_HOME"] || join(home, ".config"),
    ...list("XDG_CONFIG_DIRS", "/etc/xdg"),
    ...[...data, ...list("XDG_DATA_DIRS", "/usr/local/share:/usr/share")].map((folder) => join(folder, "applications")),
  ];
  const desktops = (env["XDG_CURRENT_DESKTOP"] ?? "").toLowerCase().split(":");
  const names = [...desktops.filter((one) => /^[\w-]+$/.test(one)).map((one) => `${one}-`), ""];
  for (const folder of folders)
    for (const name of names) {
      const found = defaultApplication(textOf(join(folder, `${name}mimeapps.list`)));
      if (found !== undefined) return found;
    }
  return undefined;
}

/** `x-scheme-handler/http` in the section of defaults. */
function defaultApplication(text: string): string | undefined {
  const section = /^\[Default Applications\]\s*$([^]*?)(?=^\[|(?![^]))/m.exec(text)?.[1] ?? "";
  return /^x-scheme-handler\/http[ \t]*=[ \t]*([^;\r\n]+)/m.exec(section)?.[1]?.trim();
}

/** The bundle id in the entry of the http scheme. */
export function handlerOnMac(text: string): string | undefined {
  const entry = text.split(/\n {8}\},?/).find((one) => /LSHandlerURLScheme = "?http"?;/.test(one));
  return /LSHandlerRoleAll = "?([a-z][\w.-]*)"?;/i.exec(entry ?? "")?.[1];
}

export function handlerOnWindows(text: string): string | undefined {
  return /ProgId\s+REG_SZ\s+(\S+)/.exec(text)?.[1];
}

/** By desktop file, bundle id or program id. */
export function kindOf(handler: string | undefined): BrowserKind | undefined {
  return kinds.find(([, pattern]) => pattern.test(handler ?? ""))?.[0];
}

const kinds: readonly (readonly [BrowserKind, RegExp])[] = [
  ["canary", /^(?:google-chrome-(?:canary|unstable)\.desktop|com\.google\.chrome\.canary|ChromeSSHTM.*)$/i],
  ["chrome", /^(?:(?:google-chrome(?:-stable)?|com\.google\.Chrome)\.desktop|com\.google\.chrome|ChromeHTML.*)$/i],
  ["brave", /^(?:(?:brave-browser|brave|brave_brave)\.desktop|com\.brave\.browser|BraveHTML.*)$/i],
  ["edge", /^(?:microsoft-edge(?:-stable)?\.desktop|com\.microsoft\.edgemac|MSEdgeHTM.*)$/i],
  ["chromium", /^(?:(?:chromium|chromium-browser|chromium_chromium)\.desktop|org\.chromium\.chromium|ChromiumHTM.*)$/i],
];

/** Empty when there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** Empty when the system does not answer. */
function ask(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: "utf8", timeout: ASK_MS, stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    if (error instanceof Error) return "";
    throw error;
  }
}
