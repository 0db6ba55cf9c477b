// Opens a resource with its first use; after a failure the next use tries again.

export interface Lazy<T> {
  /** Opens it unless it is open. Rejects with the error of this attempt. */
  readonly get: () => Promise<T>;
  /** The opened resource, or undefined. Never opens, never rejects. */
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
