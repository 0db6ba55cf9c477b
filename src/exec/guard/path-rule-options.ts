// The programs and service sockets of this machine that a guarded command could use to run code outside.
import { getCompileCacheDir } from "node:module";
import { basename, dirname, join } from "node:path";

import { packageRoot } from "../../base/version.ts";
import { canWrite } from "../../base/folders.ts";
import { canonicalPath, engineSockets, isWithin } from "../sandbox/hidden-paths.ts";
import type { PathRuleOptions } from "./path-rules.ts";

/** For a command that starts this program. */
export function pathRuleOptions(program: string): PathRuleOptions {
  return { programs: ownPrograms(), services: servicesFor(program) };
}

const isRoot = (): boolean => process.getuid?.() === 0 && process.platform === "linux";

/** Root can write everywhere, so the folders that every program outside depends on become read-only. */
const system: readonly string[] = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /boot /sys /etc".split(" ");

/** The code of the gateway and its helpers; changing it would mean running as the gateway. */
function ownPrograms(): readonly string[] {
  const compiled = getCompileCacheDir();
  return [
    ...(isRoot() ? system : []),
    packageRoot(),
    process.execPath,
    // Named by Node's version. When openclaw.mjs chose the folder, its parent is ours too, since the next version reads
    // there.
    ...(compiled === undefined ? [] : [compiled]),
    ...(compiled?.includes("/openclaw/code/") === true ? [dirname(compiled)] : []),
  ];
}

/** Programs that need such a service, or use it to find the owner's passwords. */
const clients: readonly { readonly names: RegExp; readonly needs: "engines" | "buses" }[] = [
  {
    names:
      /^(?:docker|podman|nerdctl|ctr|crictl|buildah|skopeo|kind|k3d|minikube|lazydocker|ctop|dive|(?:docker|podman)-compose)$/,
    needs: "engines",
  },
  {
    names:
      /^(?:systemctl|loginctl|hostnamectl|timedatectl|localectl|networkctl|resolvectl|journalctl|nmcli|bluetoothctl|upower|powerprofilesctl|playerctl|notify-send|gsettings|dconf|secret-tool|git|gh)$/,
    needs: "buses",
  },
];

/** The sockets to hide. A client program sees the ones it needs, unless commands could replace the program. */
function servicesFor(program: string): readonly string[] {
  const path = canonicalPath(program);
  const needs = clients.find(({ names }) => names.test(basename(path)))?.needs;
  const seen = needs !== undefined && isSafeFromCommands(path) ? needs : undefined;
  const runtime = process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`;
  const services = {
    engines: [
      ...engineSockets,
      ...["docker.sock", "podman/podman.sock", "containerd/containerd.sock"].map((name) => join(runtime, name)),
    ],
    buses: [
      ...["bus", "systemd/private"].map((name) => join(runtime, name)),
      // For users other than root, the system bus and manager grant nothing without a password.
      ...(isRoot() ? ["/run/dbus/system_bus_socket", "/run/systemd/private"] : []),
    ],
    terminals: [`/tmp/tmux-${process.getuid?.() ?? 0}`, "/run/screen"],
  };
  return Object.entries(services).flatMap(([name, sockets]) => (name === seen ? [] : sockets));
}

function isSafeFromCommands(path: string): boolean {
  if (isRoot()) return system.some((folder) => isWithin(path, folder));
  return !canWrite(path) && !canWrite(dirname(path));
}
