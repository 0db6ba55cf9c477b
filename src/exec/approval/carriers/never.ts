// Programs that run what their arguments, their input or the folder say, in too many ways to describe: never by allowlist.

const groups: Readonly<Record<string, string>> = {
  "is a shell":
    "sh bash dash ash zsh fish ksh ksh93 mksh pdksh csh tcsh rc es elvish nu nushell xonsh oil osh ysh yash posh sash rbash rzsh rksh pwsh powershell ion hush lksh bosh scsh",
  "is many programs in one": "busybox toybox coreutils",
  "runs programs as somebody else":
    "sudo sudoedit su doas pkexec runuser run0 sg newgrp ksu visudo setpriv capsh chroot calife super please gosu su-exec machinectl start-stop-daemon chpst runas sudo-rs su-rs",
  "runs programs in another system or namespace":
    "unshare nsenter bwrap firejail proot fakeroot fakeroot-sysv fakeroot-tcp fakechroot docker docker-compose podman podman-compose nerdctl buildah lxc lxc-attach lxc-execute lxc-start lxd incus runc crun ctr crictl kubectl oc helm vagrant multipass distrobox toolbox flatpak snap systemd-nspawn apptainer singularity udocker k3s minikube kind colima lima limactl ip-netns waydroid wine wine64 qemu-user qemu-system dosbox genie minijail0 nsjail crosvm",
  "runs programs later":
    "at batch crontab anacron systemd-run launchctl cron crond atd incrontab fcrontab daemonize service invoke-rc.d initctl rc-service rc-update runsv runsvdir svc supervisorctl supervisord pm2 forever busctl loginctl dbus-send gdbus qdbus atrun",
  "starts other programs":
    "xargs parallel sem rush pexec watch watchexec entr flock lockrun setlock chronic ifne mispipe script scriptlive expect unbuffer rlwrap screen tmux tmate zellij dtach abduco mosh mosh-server ttyrec asciinema strace ltrace perf valgrind gdb lldb rr bpftrace dtrace dtruss catchsegv ld.so linux32 linux64 setarch i386 x86_64 uname26 choom prlimit numactl cgexec schedtool softlimit eatmydata faketime torify torsocks proxychains tsocks aa-exec runcon dbus-launch dbus-run-session ssh-agent keychain xvfb-run xinit startx openvt run-parts run-mailcap xdg-open open gio hyperfine multitime cpulimit logsave with-contenv dotenv direnv aws-vault doppler chamber nodemon onchange concurrently npm-run-all run-s run-p cross-env env-cmd pipexec envdir envuidgid setuidgid fghack pgrphack argv0 exec sshpass autossh trickle stress-ng check_by_ssh distcc ccache sccache ldd gcore scanmem crash jdb pdb byebug pry annotate-output inotifyrun reptyr nq timelimit tini dumb-init catatonit s6-setuidgid s6-svscan execlineb cmd grc ts-node tsx esno dtrx mc-wrapper",
  "runs commands on other machines or over the network":
    "ssh slogin scp sftp rsh rlogin rexec rcp telnet ftp lftp tftp ncftp nc ncat netcat socat socket pssh pdsh clush cssh ansible ansible-playbook ansible-console salt salt-call puppet chef-client chef-solo knife fab cap openvpn pppd aria2c msfconsole smbclient mosquitto_sub",
  "is an editor or viewer with commands of its own":
    "vi vim nvim view vimdiff gvim rvim rview evim ex ed red emacs emacsclient emacs-nox nano pico rnano joe jed jmacs mcedit mc micro hx helix kak kakoune ne jove mg vigr vipw ranger nnn lf vifm ncdu code subl more most pg w3m lynx links links2 elinks irssi weechat mutt neomutt mail mailx alpine pine tig lazygit gitui fzf sk peco info pinfo zathura tasksh aspell ispell whiptail",
  "runs code that its input or arguments hold":
    "tclsh wish expectk guile racket sbcl clisp ecl ocaml ghci runghc runhaskell julia r rscript octave matlab gnuplot maxima gp dc m4 osascript jjs jrunscript jshell java javaw kotlin kotlinc groovy scala clojure clj lein erl escript elixir iex swift dotnet mono csi fsi fsharpi bun bunx deno coffee psql pgcli mysql mariadb mycli mongosh mongo cqlsh gimp blender tex pdftex latex pdflatex xelatex lualatex luatex xetex latexmk dvips gs ghostscript exiftool irb slsh ginsh bconsole dosemu jtclsh patch hg svn cvs bzr brz fossil p4 darcs pijul msgfilter msgexec byacc facter puppetd terraform tofu pulumi packer nomad consul vault octave-cli io janet fennel nim crystal zig v perldoc perlbug pod2usage pydoc ipython jupyter bpython ptpython node-gyp sendmail procmail maildrop formail nmap hping3 logrotate nginx apache2 httpd sshd inetd xinetd lighttpd caddy dnsmasq dhclient udhcpc wpa_cli hostapd_cli mdadm ifup ifdown mpv newsboat cmus rtorrent vlc tshark wireshark dumpcap rpmbuild debuild",
  "runs code of packages or projects":
    "npx npm pnpm pnpx pnpm-exec yarn yarnpkg corepack volta nvm fnm asdf mise rtx uv uvx pip pipx easy_install conda mamba micromamba poetry pdm hatch rye tox nox virtualenv cargo rustup rustc go gofmt-run gem bundle bundler rake thor cpan cpanm cpanp composer luarocks cabal stack nix nix-shell nix-env nix-build nix-instantiate guix brew port apt apt-get aptitude dpkg dpkg-reconfigure dpkg-deb yum dnf microdnf zypper rpm rpmdb rpmquery rpmverify apk pacman yay paru opkg emerge pkg pkg_add pkgutil jbang sdk gradle gradlew mvn mvnw ant sbt mill bazel bazelisk buck vcpkg conan mix hex rebar3 opam dune shards dub nimble cmake ctest cpack ninja meson scons just task invoke doit husky lefthook pre-commit lint-staged turbo nx lerna rush-x update-alternatives apache2ctl snapcraft spack easyrsa certbot",
  "belongs to this gateway": "openclaw moltbot clawdbot clawd",
};

/** Program name → what it does that no allowlist can answer for. */
export const neverByAllowlist: ReadonlyMap<string, string> = new Map(
  Object.entries(groups).flatMap(([why, names]) => names.split(" ").map((name): [string, string] => [name, why])),
);

export const isShell = (name: string): boolean => neverByAllowlist.get(name) === "is a shell";
