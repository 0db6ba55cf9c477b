// The location inside the page, `#/<view>/<rest…>`: the back button and bookmarks work on any base path.

export interface Route {
  readonly view: string;
  readonly rest: readonly string[];
}

export function parseRoute(hash: string): Route {
  const [view = "", ...rest] = hash.startsWith("#/") ? hash.slice(2).split("/").map(decodePart) : [];
  return { view, rest: rest.filter((part) => part !== "") };
}

export function toHash(view: string, ...rest: readonly string[]): string {
  return `#/${[view, ...rest].map(encodeURIComponent).join("/")}`;
}

/** An address typed by a person may contain a broken escape, which is kept as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
