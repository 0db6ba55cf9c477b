// A stream gives each message once, in order, wherever the connection breaks.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { parseEventId, ResumableStream, type Sink } from "./stream.ts";

interface Reader extends Sink {
  readonly seen: number[];
  last: string | undefined;
  isClosed: boolean;
}

/** Reads until its connection breaks after so many events. */
function reader(breaksAfter = Infinity): Reader {
  let left = breaksAfter;
  const self: Reader = {
    seen: [],
    last: undefined,
    isClosed: false,
    send(message, eventId) {
      if (left-- <= 0) return;
      self.last = eventId;
      if (message !== undefined) self.seen.push((message as { n: number }).n);
    },
    close: () => void (self.isClosed = true),
  };
  return self;
}

test("a client that resumes after every break sees each message once, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4), { maxLength: 30 }), fc.nat(60), (breaks, count) => {
      const stream = new ResumableStream("r1");
      let current = reader(1 + (breaks[0] ?? 100));
      stream.attach(current);
      const seen: number[] = [];
      let sent = 0;
      const send = (): void => stream.send({ n: sent++ });
      for (const next of breaks.slice(1)) {
        if (sent < count) send();
        seen.push(...current.seen);
        stream.detach(current);
        if (sent < count) send();
        const after = parseEventId(current.last ?? "");
        assert.equal(after?.stream, "r1");
        assert.ok(stream.canResume(after?.number ?? -1));
        const resumed = reader(next);
        // A connection that broke at once leaves the client with the id it had.
        resumed.last = current.last;
        current = resumed;
        stream.attach(current, after?.number);
      }
      seen.push(...current.seen);
      stream.detach(current);
      while (sent < count) send();
      stream.end();
      const last = reader();
      stream.attach(last, parseEventId(current.last ?? "")?.number);
      assert.deepEqual(
        [...seen, ...last.seen],
        Array.from({ length: count }, (_, n) => n),
      );
      assert.ok(last.isClosed);
    }),
  );
});

test("keeps a bounded number of messages and says when a gap cannot be filled", () => {
  const stream = new ResumableStream("r1");
  for (let n = 0; n < 1500; n++) stream.send({ n });
  assert.equal(stream.canResume(100), false);
  assert.equal(stream.canResume(500), true);
  assert.equal(stream.canResume(1500), true);
  assert.equal(stream.canResume(1501), false);
});

test("a broken connection that ends late does not end the one that replaced it", () => {
  const stream = new ResumableStream("r1");
  const [first, second] = [reader(), reader()];
  stream.attach(first);
  stream.attach(second, 0);
  stream.detach(first);
  stream.send({ n: 1 });
  assert.deepEqual([first.isClosed, first.seen, second.seen], [true, [], [1]]);
});

test("reads only event ids that it could have given out", () => {
  assert.deepEqual(parseEventId("r12.7"), { stream: "r12", number: 7 });
  for (const text of ["", "r1", "r1.", ".1", "r1.x", "r1.1.1", "r 1.1", `r1.${"9".repeat(10)}`])
    assert.equal(parseEventId(text), undefined, text);
});
