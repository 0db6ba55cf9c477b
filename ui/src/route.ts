// Where in the page we are: `#/<view>/<rest…>`, so that the browser's back button and bookmarks work on any base path.

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

/** A hand-typed address may hold a broken escape; it then names nothing instead of breaking the page. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
