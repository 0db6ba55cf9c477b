// Assembles the seccomp filter of a sandboxed command as classic BPF, without a library.
import {
  absentCalls,
  allowedFamilies,
  CREATING_FLAGS,
  deniedCalls,
  deniedTerminalRequests,
  checkedCalls,
  modeCalls,
  NAMESPACE_FLAGS,
  NETLINK_FAMILY,
  NETLINK_ROUTE,
  SET_ID_BITS,
  TIME_NAMESPACE_FLAG,
} from "./seccomp-calls.ts";

const machines = {
  x64: { column: 0, audit: 0xc000_003e, hasX32: true },
  arm64: { column: 1, audit: 0xc000_00b7, hasX32: false },
} as const;

/** The filter in kernel format, or undefined for an unsupported architecture. */
export function seccompProgram(arch: string): Uint8Array | undefined {
  if (arch !== "x64" && arch !== "arm64") return undefined;
  const { column, audit, hasX32 } = machines[arch];
  const numberOf = (numbers: readonly (number | undefined)[]): number[] =>
    numbers[column] === undefined ? [] : [numbers[column]];
  return encode([
    load(ARCH_OFFSET),
    ...when(JEQ, audit, [], [returnAction(KILL)]),
    load(NUMBER_OFFSET),
    // The x32 calls of x86_64 have other numbers for the same functions.
    ...(hasX32 ? when(JGE, 0x4000_0000, [returnAction(KILL)]) : []),
    ...Object.values(deniedCalls)
      .flatMap(numberOf)
      .flatMap((number) => when(JEQ, number, [returnAction(errno(EPERM))])),
    ...Object.values(absentCalls)
      .flatMap(numberOf)
      .flatMap((number) => when(JEQ, number, [returnAction(errno(ENOSYS))])),
    ...when(JEQ, checkedCalls.clone[column], checkFlags(NAMESPACE_FLAGS)),
    ...when(JEQ, checkedCalls.unshare[column], checkFlags(NAMESPACE_FLAGS | TIME_NAMESPACE_FLAG)),
    ...when(JEQ, checkedCalls.ioctl[column], checkTerminal()),
    ...when(JEQ, checkedCalls.socket[column], checkSocket()),
    ...modeCalls.flatMap(({ numbers, mode, flags }) =>
      numberOf(numbers).flatMap((number) => when(JEQ, number, checkMode(mode, flags))),
    ),
    returnAction(ALLOW),
  ]);
}

interface Instruction {
  readonly code: number;
  readonly k: number;
  readonly onTrue: number;
  readonly onFalse: number;
}

const [LOAD, JEQ, JGE, JSET, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [NUMBER_OFFSET, ARCH_OFFSET] = [0, 4];
const [KILL, ALLOW, ERRNO] = [0x8000_0000, 0x7fff_0000, 0x0005_0000];
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

const errno = (number: number): number => ERRNO | number;
const load = (offset: number): Instruction => ({ code: LOAD, k: offset, onTrue: 0, onFalse: 0 });
/** The lower 32 bits of an argument (little-endian); the kernel ignores the upper half of these arguments. */
const loadArgument = (index: number): Instruction => load(16 + 8 * index);
const returnAction = (verdict: number): Instruction => ({ code: RETURN, k: verdict, onTrue: 0, onFalse: 0 });

/** Both branches must end in a return, or be empty and fall through. */
function when(test: number, k: number, then: Instruction[], otherwise: Instruction[] = []): Instruction[] {
  if (then.length === 0) return [{ code: test, k, onTrue: otherwise.length, onFalse: 0 }, ...otherwise];
  return [{ code: test, k, onTrue: 0, onFalse: then.length }, ...then, ...otherwise];
}

function checkFlags(forbidden: number): Instruction[] {
  return [loadArgument(0), ...when(JSET, forbidden, [returnAction(errno(EPERM))]), returnAction(ALLOW)];
}

/** Without such a flag no file is created, and the mode argument may be arbitrary. */
function checkMode(mode: number, flags: number | undefined): Instruction[] {
  const checked = [loadArgument(mode), ...when(JSET, SET_ID_BITS, [returnAction(errno(EPERM))]), returnAction(ALLOW)];
  return flags === undefined
    ? checked
    : [loadArgument(flags), ...when(JSET, CREATING_FLAGS, checked), returnAction(ALLOW)];
}

function checkTerminal(): Instruction[] {
  return [
    loadArgument(1),
    ...deniedTerminalRequests.flatMap((request) => when(JEQ, request, [returnAction(errno(EPERM))])),
    returnAction(ALLOW),
  ];
}

function checkSocket(): Instruction[] {
  return [
    loadArgument(0),
    ...allowedFamilies.flatMap((family) => when(JEQ, family, [returnAction(ALLOW)])),
    ...when(JEQ, NETLINK_FAMILY, [
      loadArgument(2),
      ...when(JEQ, NETLINK_ROUTE, [returnAction(ALLOW)]),
      returnAction(errno(EAFNOSUPPORT)),
    ]),
    returnAction(errno(EAFNOSUPPORT)),
  ];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [at, { code, onTrue, onFalse, k }] of program.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(onTrue, at * 8 + 2);
    bytes.writeUInt8(onFalse, at * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, at * 8 + 4);
  }
  return bytes;
}
