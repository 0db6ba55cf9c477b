// Opens a resource with its first use; after a failure the next use tries again.

export interface Lazy<T> {
  /** Opens it unless it is open. Rejects with the error of this attempt. */
  readonly get: () => Promise<T>;
  /** The opened resource, or undefined. Never opens, never rejects. */
  readonly opened: () => Promise<T | undefined>;
}

/** Forwards methods to a service that opens with the first call. */
export function forwardTo<T extends object, K extends AsyncMethods<T>>(
  open: () => Promise<T>,
  ...names: readonly K[]
): Pick<T, K> {
  const forward =
    (name: K) =>
    async (...args: unknown[]) => {
      const service = await open();
      return (service[name] as (...args: unknown[]) => unknown).apply(service, args);
    };
  return Object.fromEntries(names.map((name) => [name, forward(name)])) as Pick<T, K>;
}

type AsyncMethods<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof T];

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
