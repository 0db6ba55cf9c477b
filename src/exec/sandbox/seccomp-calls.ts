// The system calls that a sandboxed command may not make, with their numbers per architecture.

/** [x86_64, aarch64]; undefined where the architecture lacks the call. */
type Numbers = readonly [number | undefined, number | undefined];

/** Calls added since 2019 have the same number on both. */
const both = (number: number): Numbers => [number, number];

/** Fail with EPERM. */
export const deniedCalls: Readonly<Record<string, Numbers>> = {
  // Mounts, roots, other namespaces, files by handle.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  open_tree_attr: both(467),
  quotactl: [179, 60],
  quotactl_fd: both(443),
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: both(438),
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // Kernel interfaces with a large attack surface.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  acct: [163, 89],
  syslog: [103, 116],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
};

/**
 * Fail with ENOSYS, so that libraries use the older call. clone3 keeps its flags in memory, which a filter cannot
 * read; io_uring does file and socket operations that no filter sees.
 */
export const absentCalls: Readonly<Record<string, Numbers>> = {
  clone3: both(435),
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  openat2: both(437), // its mode is in memory too
};

/** Allowed or denied by an argument. */
export const checkedCalls = {
  clone: [56, 220],
  unshare: [272, 97],
  ioctl: [16, 29],
  socket: [41, 198],
} as const satisfies Readonly<Record<string, Numbers>>;

/**
 * A program with the set-user or set-group bit would belong to the gateway's user and give its rights to every user
 * outside. Lists which argument holds the mode, and which holds the flags that decide whether the mode counts.
 */
export const modeCalls: readonly { readonly numbers: Numbers; readonly mode: number; readonly flags?: number }[] = [
  { numbers: [90, undefined], mode: 1 }, // chmod
  { numbers: [91, 52], mode: 1 }, // fchmod
  { numbers: [268, 53], mode: 2 }, // fchmodat
  { numbers: both(452), mode: 2 }, // fchmodat2
  { numbers: [85, undefined], mode: 1 }, // creat
  { numbers: [133, undefined], mode: 1 }, // mknod
  { numbers: [259, 33], mode: 2 }, // mknodat
  { numbers: [2, undefined], mode: 2, flags: 1 }, // open
  { numbers: [257, 56], mode: 3, flags: 2 }, // openat
];
/** S_ISUID and S_ISGID. */
export const SET_ID_BITS = 0o6000;
/** O_CREAT and the bit of O_TMPFILE. */
export const CREATING_FLAGS = 0x40 | 0x40_0000;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const NAMESPACE_FLAGS = 0x7e02_0000;
/** CLONE_NEWTIME; in clone's flags this bit is part of a signal number. */
export const TIME_NAMESPACE_FLAG = 0x80;
/** TIOCSTI types into the terminal, TIOCLINUX pastes into the console. */
export const deniedTerminalRequests: readonly number[] = [0x5412, 0x541c];
/** AF_UNIX, AF_INET, AF_INET6. Others bypass the network namespace (AF_VSOCK) or expose more of the kernel. */
export const allowedFamilies: readonly number[] = [1, 2, 10];
/** AF_NETLINK is allowed only for NETLINK_ROUTE, which programs use to list network interfaces. */
export const NETLINK_FAMILY = 16;
export const NETLINK_ROUTE = 0;
