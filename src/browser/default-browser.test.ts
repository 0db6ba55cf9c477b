// Which of several installed browsers is used.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { handlerOnMac, handlerOnWindows, kindOf } from "./default-browser.ts";
import { findProgram } from "./program.ts";

const notLinux = process.platform === "linux" ? false : "reads the files of Linux desktops";

/** A machine with Chrome, Brave and Chromium. */
function machine(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "openclaw-default-browser-"));
  t.after(() => rmSync(home, { recursive: true }));
  const folder = (name: string): string => {
    mkdirSync(join(home, name), { recursive: true });
    return join(home, name);
  };
  const bin = folder("bin");
  for (const name of ["google-chrome", "brave-browser", "chromium"]) {
    writeFileSync(join(bin, name), "#!/bin/sh\n");
    chmodSync(join(bin, name), 0o755);
  }
  const env = {
    HOME: home,
    PATH: bin,
    XDG_CONFIG_DIRS: folder("etc"),
    XDG_DATA_DIRS: folder("share"),
    XDG_CURRENT_DESKTOP: "GNOME",
  };
  const setDefault = (file: string, desktop: string): void =>
    writeFileSync(
      join(folder(join(file, "..")), file.split("/").at(-1) ?? ""),
      `[Added Associations]\nx-scheme-handler/http=brave-browser.desktop;\n\n[Default Applications]\ntext/html=vim.desktop\nx-scheme-handler/http=${desktop}\n\n[Removed Associations]\n`,
    );
  return { setDefault, kind: () => findProgram(env, undefined)?.kind, env };
}

test("prefers the default browser of the desktop among several installed ones", { skip: notLinux }, (t) => {
  const { setDefault, kind } = machine(t);
  assert.equal(kind(), "chrome", "no default is set");
  setDefault("share/applications/mimeapps.list", "brave-browser.desktop");
  assert.equal(kind(), "brave", "the default of the system");
  setDefault(".config/mimeapps.list", "chromium.desktop;google-chrome.desktop");
  assert.equal(kind(), "chromium", "the default of the user");
  setDefault(".config/gnome-mimeapps.list", "google-chrome.desktop");
  assert.equal(kind(), "chrome", "the default of the user on this desktop");
});

test("ignores a default browser that is not installed or of another family", { skip: notLinux }, (t) => {
  const { setDefault, kind } = machine(t);
  for (const desktop of ["firefox.desktop", "microsoft-edge.desktop", "../chromium.desktop"]) {
    setDefault(".config/mimeapps.list", desktop);
    assert.equal(kind(), "chrome", desktop);
  }
});

test("browser.executablePath is used whatever the default browser is", { skip: notLinux }, (t) => {
  const { setDefault, env } = machine(t);
  setDefault(".config/mimeapps.list", "brave-browser.desktop");
  const path = join(env.PATH, "chromium");
  assert.deepEqual(findProgram(env, path), { kind: "custom", path });
});

test("reads the default browser of macOS and Windows", () => {
  const entry = (scheme: string, id: string): string =>
    `        {\n            LSHandlerPreferredVersions =             {\n                LSHandlerRoleAll = "-";\n            };\n            LSHandlerRoleAll = "${id}";\n            LSHandlerURLScheme = ${scheme};\n        }`;
  const handlers = `{\n    LSHandlers =     (\n${[entry("mailto", "com.apple.mail"), entry("https", "org.mozilla.firefox"), entry("http", "com.brave.browser")].join(",\n")}\n    );\n}`;
  assert.equal(kindOf(handlerOnMac(handlers)), "brave");
  assert.equal(kindOf(handlerOnMac("{ }")), undefined);
  const choice = (id: string): string => `\r\nHKEY_CURRENT_USER\\…\\UserChoice\r\n    ProgId    REG_SZ    ${id}\r\n`;
  assert.equal(kindOf(handlerOnWindows(choice("MSEdgeHTM"))), "edge");
  assert.equal(kindOf(handlerOnWindows(choice("FirefoxURL-308046B0AF4A39CB"))), undefined);
});
