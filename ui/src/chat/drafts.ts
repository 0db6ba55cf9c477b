// Keeps the unsent draft of each session.

type StringStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export interface Drafts {
  read(sessionKey: string): string;
  write(sessionKey: string, text: string): void;
}

const prefix = "openclaw.chat.draft.";

/** Storage may be full or forbidden; drafts then last as long as the page. */
export function createDrafts(storage: StringStorage | undefined): Drafts {
  const typed = new Map<string, string>();
  return {
    read: (key) => typed.get(key) ?? tryStorage(() => storage?.getItem(prefix + key)) ?? "",
    write(key, text) {
      typed.set(key, text);
      tryStorage(() => (text === "" ? storage?.removeItem(prefix + key) : storage?.setItem(prefix + key, text)));
    },
  };
}

function tryStorage<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined; // the draft stays in memory
  }
}
