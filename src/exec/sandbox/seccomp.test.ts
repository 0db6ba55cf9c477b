// Runs the kernel filter in a small BPF interpreter and checks every rule on both architectures.
import assert from "node:assert/strict";
import { test } from "node:test";

import { absentCalls, deniedCalls, checkedCalls, modeCalls } from "./seccomp-calls.ts";
import { seccompProgram } from "./seccomp.ts";

const KILL = 0x8000_0000;
const ALLOW = 0x7fff_0000;
const failing = (errno: number): number => 0x0005_0000 | errno;
const machines = [
  { arch: "x64", audit: 0xc000_003e, column: 0, read: 0, openat: 257 },
  { arch: "arm64", audit: 0xc000_00b7, column: 1, read: 63, openat: 56 },
] as const;

for (const { arch, audit, column, read, openat } of machines) {
  const ask = (number: number, args: readonly number[] = [], machine: number = audit): number =>
    judge(arch, machine, number, args);

  test(`${arch}: ordinary calls pass`, () => {
    for (const number of [read, openat]) assert.equal(ask(number), ALLOW);
  });

  test(`${arch}: every denied call is refused`, () => {
    for (const [name, numbers] of Object.entries(deniedCalls)) {
      const number = numbers[column];
      if (number !== undefined) assert.equal(ask(number), failing(1), name);
    }
    for (const [name, numbers] of Object.entries(absentCalls))
      assert.equal(ask(numbers[column] ?? 0), failing(38), name);
  });

  test(`${arch}: allows new processes and refuses new namespaces`, () => {
    assert.equal(ask(checkedCalls.clone[column], [0x0120_0011]), ALLOW);
    for (const bit of [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000]) {
      assert.equal(ask(checkedCalls.clone[column], [bit | 17]), failing(1));
      assert.equal(ask(checkedCalls.unshare[column], [bit]), failing(1));
    }
    assert.equal(ask(checkedCalls.unshare[column], [0x80]), failing(1));
    assert.equal(ask(checkedCalls.unshare[column], [0x400]), ALLOW);
  });

  test(`${arch}: refuses typing into the terminal`, () => {
    assert.equal(ask(checkedCalls.ioctl[column], [0, 0x5412]), failing(1));
    assert.equal(ask(checkedCalls.ioctl[column], [0, 0x541c]), failing(1));
    assert.equal(ask(checkedCalls.ioctl[column], [0, 0x5413]), ALLOW);
  });

  test(`${arch}: allows only local and internet sockets, and listing interfaces`, () => {
    for (const family of [1, 2, 10]) assert.equal(ask(checkedCalls.socket[column], [family, 1, 0]), ALLOW);
    assert.equal(ask(checkedCalls.socket[column], [16, 3, 0]), ALLOW);
    assert.equal(ask(checkedCalls.socket[column], [16, 3, 12]), failing(97));
    for (const family of [17, 21, 29, 31, 38, 40, 44])
      assert.equal(ask(checkedCalls.socket[column], [family, 3, 0]), failing(97));
  });

  test(`${arch}: refuses set-user and set-group bits`, () => {
    for (const { numbers, mode, flags } of modeCalls) {
      const number = numbers[column];
      if (number === undefined) continue;
      const given = (bits: number, flag: number): number[] =>
        [0, 1, 2, 3].map((at) => (at === mode ? bits : at === flags ? flag : 0));
      for (const bits of [0o4755, 0o2755, 0o106755]) {
        assert.equal(ask(number, given(bits, 0x41)), failing(1), `${number} ${bits}`);
        assert.equal(ask(number, given(bits, 0x41_0002)), failing(1), `${number} ${bits}`);
        assert.equal(ask(number, given(bits, 0x8_0000)), flags === undefined ? failing(1) : ALLOW);
      }
      for (const bits of [0o755, 0o1777, 0o100644, 0]) assert.equal(ask(number, given(bits, 0x241)), ALLOW);
    }
  });

  test(`${arch}: ends a process that makes calls of another architecture`, () => {
    assert.equal(ask(read, [], 0x4000_0003), KILL);
    if (arch === "x64") assert.equal(ask(0x4000_0000 + read), KILL);
  });
}

test("gives no filter, and so no sandbox, for an unknown architecture", () => {
  assert.equal(seccompProgram("riscv64"), undefined);
});

/** Classic BPF: load a word, compare, jump, return. */
function judge(arch: string, machine: number, number: number, args: readonly number[]): number {
  const program = Buffer.from(seccompProgram(arch) ?? []);
  const facts = Buffer.alloc(64);
  facts.writeUInt32LE(number >>> 0, 0);
  facts.writeUInt32LE(machine >>> 0, 4);
  for (const [at, value] of args.entries()) facts.writeUInt32LE(value >>> 0, 16 + at * 8);
  let word = 0;
  for (let at = 0; at < program.length / 8;) {
    const [code, onTrue, onFalse, k] = [
      program.readUInt16LE(at * 8),
      program[at * 8 + 2] ?? 0,
      program[at * 8 + 3] ?? 0,
      program.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return k;
    if (code === 0x20) {
      word = facts.readUInt32LE(k);
      at += 1;
      continue;
    }
    const tests: Record<number, boolean> = { 0x15: word === k, 0x35: word >= k, 0x45: (word & k) !== 0 };
    at += 1 + (tests[code] === true ? onTrue : onFalse);
  }
  throw new Error("the program ran off its end");
}
