// Programs whose words alone say what they do: they run no instructions out of a file. Consent for good is offered for these only.

const groups: Readonly<Record<string, string>> = {
  "prints what it is given": "echo printf true false test [ seq yes expr factor numfmt sleep",
  "tells about the machine":
    "arch date uname hostname hostid uptime whoami id groups logname users who w tty pwd nproc free vmstat iostat mpstat df du ps pgrep pidof lscpu lsblk lsusb lspci lsmod lsof getconf getent locale printenv which ss netstat ping ping6 dig host nslookup traceroute tracepath mtr sw_vers system_profiler sensors dmesg last lastlog findmnt blkid journalctl systemctl timedatectl hostnamectl localectl ip ifconfig route arp cal ncal",
  "shows files":
    "ls dir vdir cat tac head tail wc cut tr sort uniq shuf nl rev fold fmt expand unexpand column paste join comm pr od xxd hexdump hd strings file stat basename dirname realpath readlink pathchk tree diff diff3 cmp cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum base32 base64 basenc md5 shasum jq zcat bzcat xzcat zstdcat pdftotext pdfinfo mediainfo",
  "searches files": "grep egrep fgrep zgrep rg ag find fd fdfind locate",
  "changes files":
    "touch mkdir rmdir cp mv rm ln chmod chown chgrp truncate tee dd install mktemp sync split csplit dos2unix unix2dos iconv",
  "packs and unpacks": "tar gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 zip unzip zipinfo cpio 7z 7za 7zr",
  "transfers data": "curl wget",
  // What could make these run something, their rules look up again at every use: settings and hooks, or code in the words.
  "is judged again by a rule of its own": "git sed awk gawk mawk rsync",
};

/** Words by which a plain program is told to follow a file after all. */
export const fileWords: Readonly<Record<string, RegExp>> = {
  jq: /^-[A-Za-z]*[fL]|^--(?:from-file|library-path)|\b(?:import|include)\b/,
  sed: /^-[A-Za-z]*f|^--file/,
  awk: /^-[A-Za-z]*[fEil]|^--(?:file|exec|include|load)|@/,
  gawk: /^-[A-Za-z]*[fEil]|^--(?:file|exec|include|load)|@/,
  mawk: /^-[A-Za-z]*f|^--(?:file|exec)/,
  // Lists of what to work on: packed and removed, or asked of a server.
  xz: /^--fi/,
  unxz: /^--fi/,
  zstd: /^--filelist/,
  unzstd: /^--filelist/,
  "7z": /^@|^-(?:i|x)[^!]*@/,
  "7za": /^@|^-(?:i|x)[^!]*@/,
  "7zr": /^@|^-(?:i|x)[^!]*@/,
  dig: /^-f/,
  ss: /^-[A-Za-z0-9]*F|^--filter/,
};

export const plainPrograms: ReadonlySet<string> = new Set(Object.values(groups).flatMap((names) => names.split(" ")));
