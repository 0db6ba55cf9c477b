// What of this machine a guarded command must not change or talk to, besides the gateway's files: ways to run code outside.
import { getCompileCacheDir } from "node:module";
import { basename, dirname, join } from "node:path";

import { packageRoot } from "../../base/version.ts";
import { canonicalPath, engineSockets, isWithin } from "../sandbox/hidden-paths.ts";
import { canWrite, type PathRuleOptions } from "./path-rules.ts";

/** For a command that starts this program. */
export function pathRuleOptions(program: string): PathRuleOptions {
  return { programs: ownPrograms(), services: servicesFor(program) };
}

const isRoot = (): boolean => process.getuid?.() === 0 && process.platform === "linux";

/** Root may write everywhere: what every program that starts outside obeys stays as it is. */
const system: readonly string[] = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /boot /sys /etc".split(" ");

/** The code that the gateway and its helpers start from; whoever changes it runs as the gateway. */
function ownPrograms(): readonly string[] {
  const compiled = getCompileCacheDir();
  return [
    ...(isRoot() ? system : []),
    packageRoot(),
    process.execPath,
    // Named by the version of Node. The folder above is ours where openclaw.mjs chose it: the next version reads there.
    ...(compiled === undefined ? [] : [compiled]),
    ...(compiled?.includes("/openclaw/code/") === true ? [dirname(compiled)] : []),
  ];
}

/** Programs that are of use only with such a service, or find the owner's passwords by it. */
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

/** Sockets to cover. A client sees those it needs; a program that commands can write is no client, whatever its name. */
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
      // To others the system's own bus and manager give nothing without a password.
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
