// The few DOM members that extraction uses, so that no file needs the types of a browser.
import { DOMParser, parseHTML } from "linkedom";

export interface Node {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly childNodes: Iterable<Node> & { readonly length: number };
  readonly parentNode: Element | null;
  textContent: string | null;
  remove(): void;
}

export interface Element extends Node {
  readonly tagName: string;
  readonly localName: string;
  readonly children: Iterable<Element> & { readonly length: number };
  innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  hasAttribute(name: string): boolean;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  replaceWith(...nodes: (Node | string)[]): void;
}

export interface Document extends Element {
  readonly documentElement: Element | null;
  readonly body: Element;
  readonly head: Element;
  readonly title: string;
  createElement(name: string): Element;
}

export const ELEMENT = 1;
export const TEXT = 3;
export const COMMENT = 8;

export function parseDocument(html: string): Document {
  // A fragment without html and body tags would have no body to look into.
  const whole = /<body[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
  return parseHTML(whole).document as Document;
}

export function parseXml(xml: string): Document {
  return new DOMParser().parseFromString(xml, "text/xml") as unknown as Document;
}

/** In document order, without recursion: pages can be nested deeper than the stack. */
export function* walk(root: Node): Generator<Node> {
  const stack: Node[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    stack.push(...[...node.childNodes].reverse());
  }
}

export function depthOf(root: Node, limit: number): number {
  let depth = 0;
  let level: Node[] = [root];
  while (level.length > 0 && depth <= limit) {
    depth += 1;
    level = level.flatMap((node) => [...node.childNodes].filter(({ nodeType }) => nodeType === ELEMENT));
  }
  return depth;
}
