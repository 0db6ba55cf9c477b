// One server-sent event stream of a session: numbered messages, kept so that a client that lost its connection can go on.

/** An open HTTP response that takes events. */
export interface Sink {
  send(message: object | undefined, eventId?: string): void;
  close(): void;
}

const MAX_KEPT = 1000;
const MAX_KEPT_BYTES = 4_000_000;

interface Kept {
  readonly number: number;
  readonly message: object;
  readonly bytes: number;
}

export class ResumableStream {
  readonly id: string;
  #sink: Sink | undefined;
  #kept: Kept[] = [];
  #bytes = 0;
  #last = 0;
  #hasEnded = false;

  constructor(id: string) {
    this.id = id;
  }

  get isAttached(): boolean {
    return this.#sink !== undefined;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Characters of the messages that are kept. */
  get size(): number {
    return this.#bytes;
  }

  /** False when messages after that number are no longer kept. */
  canResume(after: number): boolean {
    return after <= this.#last && (this.#kept[0]?.number ?? this.#last + 1) <= after + 1;
  }

  /** Starts with an event without a message, whose id is what a client names when it resumes. */
  attach(sink: Sink, after?: number): void {
    this.#sink?.close();
    this.#sink = sink;
    if (after === undefined) sink.send(undefined, this.#eventId(this.#last));
    else for (const { number, message } of this.#kept) if (number > after) sink.send(message, this.#eventId(number));
    if (this.#hasEnded) this.#detachAndClose();
  }

  /** The connection is gone. A later sink is not touched. */
  detach(sink: Sink): void {
    if (this.#sink === sink) this.#sink = undefined;
  }

  send(message: object): void {
    const number = ++this.#last;
    const bytes = JSON.stringify(message).length;
    this.#kept.push({ number, message, bytes });
    this.#bytes += bytes;
    while (this.#kept.length > MAX_KEPT || (this.#bytes > MAX_KEPT_BYTES && this.#kept.length > 1))
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
    this.#sink?.send(message, this.#eventId(number));
  }

  end(): void {
    this.#hasEnded = true;
    this.#detachAndClose();
  }

  #detachAndClose(): void {
    this.#sink?.close();
    this.#sink = undefined;
  }

  #eventId(number: number): string {
    return `${this.id}.${number}`;
  }
}

/** Undefined for an id that this server did not give out. */
export function parseEventId(text: string): { readonly stream: string; readonly number: number } | undefined {
  const match = /^([\w-]{1,64})\.(\d{1,9})$/.exec(text);
  return match === null ? undefined : { stream: match[1] ?? "", number: Number(match[2]) };
}
