// Programs that run other programs or any code they are given: never safe to let run unasked, whatever their arguments.
import { basename } from "node:path";

const kinds: readonly (readonly [kind: string, names: string])[] = [
  ["it is a shell", "sh bash dash zsh ksh mksh fish csh tcsh ash rbash pwsh powershell cmd xonsh nu elvish"],
  [
    "it runs any code it is given",
    "python python2 python3 node nodejs deno bun perl ruby php lua luajit tclsh wish guile ghci scala groovy julia Rscript R osascript awk gawk mawk nawk sed jshell irb ts-node tsx elixir erl java swift racket sbcl ocaml emacs ed ex vi vim nvim view nano",
  ],
  [
    "it starts other programs",
    "env xargs find nohup timeout nice ionice setsid stdbuf time watch parallel strace ltrace gdb script unshare nsenter chroot taskset flock busybox toybox sudo su doas runuser pkexec systemd-run at batch crontab ssh scp rsync screen tmux expect make cmake ninja socat nc ncat netcat tar zip cpio git docker podman kubectl man less more npx npm pnpm yarn bunx pipx pip uv uvx cargo go gem bundle composer mvn gradle",
  ],
  ["it writes or fetches files", "dd tee cp mv ln install rm curl wget ftp openssl base64 xxd"],
];

const byName: ReadonlyMap<string, string> = new Map(
  kinds.flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind] as const)),
);

/** Why a program is no harmless one, or undefined when nothing is known against it. Versions count: `python3.12`. */
export function programKind(path: string): string | undefined {
  const name = basename(path).replace(/\.exe$/i, "");
  return byName.get(name) ?? byName.get(name.replace(/-?\d+(?:\.\d+)*$/, "")) ?? byName.get(name.toLowerCase());
}
