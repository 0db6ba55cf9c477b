// Finds a Chromium-based browser on this machine.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

import type { Env } from "../base/paths.ts";
import { defaultBrowser, type BrowserKind } from "./default-browser.ts";
import { browserError } from "./errors.ts";

export interface BrowserProgram {
  readonly kind: "custom" | BrowserKind;
  readonly path: string;
}

/**
 * `executablePath` must exist when it is set. Of several installed browsers the default one of the operating system
 * comes first. Undefined when no browser is installed.
 */
export function findProgram(env: Env, executablePath: string | undefined): BrowserProgram | undefined {
  if (executablePath !== undefined) {
    if (!isExecutable(executablePath))
      throw browserError("browser.no-program", `browser.executablePath not found: ${executablePath}`, {
        hint: "openclaw config set browser.executablePath <path>, or openclaw config unset browser.executablePath",
      });
    return { kind: "custom", path: executablePath };
  }
  const installed = candidates(process.platform, env).flatMap(([kind, names]) => {
    const path = names.map((name) => (/[/\\]/.test(name) ? name : onPath(name, env))).find(isProgram);
    return path === undefined ? [] : [{ kind, path }];
  });
  if (installed.length < 2) return installed[0];
  const preferred = defaultBrowser(process.platform, env);
  return installed.find(({ kind }) => kind === preferred) ?? installed[0];
}

export function requireProgram(env: Env, executablePath: string | undefined): BrowserProgram {
  const found = findProgram(env, executablePath);
  if (found !== undefined) return found;
  throw browserError("browser.no-program", "no Chromium-based browser is installed on this machine", {
    hint: installCommand(process.platform),
  });
}

/** Without a display a browser cannot show a window. */
export function hasDisplay(env: Env): boolean {
  return process.platform !== "linux" || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
}

type Candidates = readonly (readonly [BrowserKind, readonly string[]])[];

function candidates(platform: NodeJS.Platform, env: Env): Candidates {
  if (platform === "darwin") {
    const apps = ["/Applications", join(env["HOME"] ?? "/", "Applications")];
    const inApps = (name: string) => apps.map((folder) => `${folder}/${name}.app/Contents/MacOS/${name}`);
    return [
      ["chrome", inApps("Google Chrome")],
      ["brave", inApps("Brave Browser")],
      ["edge", inApps("Microsoft Edge")],
      ["chromium", inApps("Chromium")],
      ["canary", inApps("Google Chrome Canary")],
    ];
  }
  if (platform === "win32") {
    const roots = [env["ProgramFiles"], env["ProgramFiles(x86)"], env["LOCALAPPDATA"]].filter(
      (one) => one !== undefined,
    );
    const inRoots = (path: string) => roots.map((root) => join(root, path));
    return [
      ["chrome", inRoots("Google\\Chrome\\Application\\chrome.exe")],
      ["brave", inRoots("BraveSoftware\\Brave-Browser\\Application\\brave.exe")],
      ["edge", inRoots("Microsoft\\Edge\\Application\\msedge.exe")],
      ["chromium", inRoots("Chromium\\Application\\chrome.exe")],
      ["canary", inRoots("Google\\Chrome SxS\\Application\\chrome.exe")],
    ];
  }
  return [
    ["chrome", ["google-chrome", "google-chrome-stable"]],
    ["brave", ["brave-browser", "brave"]],
    ["edge", ["microsoft-edge", "microsoft-edge-stable"]],
    ["chromium", ["chromium", "chromium-browser"]],
    ["canary", ["google-chrome-canary", "google-chrome-unstable"]],
  ];
}

function installCommand(platform: NodeJS.Platform): string {
  if (platform === "darwin") return "brew install --cask chromium";
  if (platform === "win32") return "winget install Google.Chrome";
  return "apt-get install chromium (or install Google Chrome), then try again";
}

function onPath(name: string, env: Env): string | undefined {
  return (env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path));
}

const isProgram = (path: string | undefined): path is string => path !== undefined && isExecutable(path);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
