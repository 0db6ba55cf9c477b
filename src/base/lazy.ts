// Something opened with its first use. A failed opening is not kept: the next use tries again.

export interface Lazy<T> {
  /** Opens it when nobody has yet. Rejects with what went wrong this time. */
  readonly get: () => Promise<T>;
  /** What is open, or about to be; undefined when it is not. Never opens, never rejects. */
  readonly opened: () => Promise<T | undefined>;
}

export function lazy<T>(open: () => Promise<T>): Lazy<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      if (opening !== undefined) return opening;
      const attempt = open();
      opening = attempt;
      attempt.catch(() => {
        if (opening === attempt) opening = undefined;
      });
      return attempt;
    },
    opened: async () => opening?.catch(() => undefined),
  };
}
