// Elements that the accessibility tree leaves out because they have neither text nor a role: icons, colored boxes, shapes.
import type { JSHandle, Locator, Page } from "playwright-core";

import { pageFunction } from "../page-function.ts";
import type { Line } from "./render.ts";
import { quote } from "./text.ts";

const MAX_GRAPHICS = 100;

/** The elements of one snapshot, by consecutive numbers. */
export interface Graphics {
  readonly first: number;
  readonly lines: readonly Line[];
  readonly elements: JSHandle<unknown[]>;
}

interface Found {
  readonly tag: string;
  readonly label: string;
  readonly color: string;
  readonly box: readonly [number, number, number, number];
  readonly near: string;
}

export async function readGraphics(page: Page, reserve: (count: number) => number): Promise<Graphics> {
  const elements = (await page.evaluateHandle(`(${collect})(${MAX_GRAPHICS})`)) as JSHandle<unknown[]>;
  const found: readonly Found[] = await elements.evaluate(describe, undefined);
  const first = reserve(found.length);
  return { first, elements, lines: found.map((one, index) => lineOf(one, first + index)) };
}

/** Undefined when the number is another element's, or this one is gone. */
export async function locateGraphic(
  page: Page,
  { first, lines, elements }: Graphics,
  number: number,
): Promise<Locator | undefined> {
  const index = number - first;
  if (index < 0 || index >= lines.length) return undefined;
  const path: string | null = await elements.evaluate(pathOf, index);
  return path === null ? undefined : page.locator(path);
}

function lineOf({ tag, label, color, box, near }: Found, number: number): Line {
  const [x, y, width, height] = box;
  const parts = ["graphic", ...(label === "" ? [] : [quote(label, 60)]), `[${number}]`, tag];
  if (color !== "") parts.push(color);
  parts.push(`${width}x${height} at ${x},${y}`);
  if (near !== "") parts.push(`in ${quote(near, 50)}`);
  return { depth: 0, text: parts.join(" "), number, role: "graphic" };
}

const collect = String.raw`(max) => {
  const shapes = "circle,ellipse,rect,polygon,polyline,path,line,text,image";
  const out = [];
  const painted = (style) => style.backgroundImage !== "none" || style.content.includes("url(")
    || !/^(rgba\(.*, 0\)|transparent)$/.test(style.backgroundColor);
  // Icon fonts and many icon sets draw in front of an empty element.
  const hasIcon = (element) => {
    const before = getComputedStyle(element, "::before");
    return !/^(none|normal|"")$/.test(before.content) || before.backgroundImage !== "none";
  };
  for (const element of document.querySelectorAll("body *")) {
    if (out.length >= max) break;
    const isShape = element instanceof SVGElement && element.matches(shapes);
    if (element instanceof SVGElement && !isShape) continue;
    if (/^(SCRIPT|STYLE|BR|HR|INPUT|SELECT|OPTION|TEXTAREA|BUTTON|IFRAME)$/.test(element.tagName)) continue;
    if (!isShape && element.textContent.trim() !== "") continue;
    if (element.closest("button, a[href], select, textarea, [role=button], [role=link], #openclaw-labels")) continue;
    const { width, height } = element.getBoundingClientRect();
    if (width < 4 || height < 4 || (width > innerWidth * 0.9 && height > innerHeight * 0.9)) continue;
    const style = getComputedStyle(element);
    if (style.visibility !== "visible" || style.opacity === "0" || style.pointerEvents === "none") continue;
    const isImage = element.tagName === "CANVAS" || (element.tagName === "IMG" && !element.alt);
    if (isShape || isImage || element.hasAttribute("tabindex") || painted(style) || hasIcon(element)) out.push(element);
  }
  return out;
}`;

const describe = pageFunction<unknown[], undefined, Found[]>(String.raw`(elements) => elements.map((element) => {
  const hex = (color) => {
    const parts = (color.match(/[\d.]+/g) ?? []).map(Number);
    if (parts.length < 3 || parts[3] === 0) return "";
    return "#" + parts.slice(0, 3).map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
  };
  const isShape = element instanceof SVGElement;
  const style = getComputedStyle(element);
  const { x, y, width, height } = element.getBoundingClientRect();
  const textOf = (node) => node.innerText ?? node.textContent;
  let near = element.parentElement;
  while (near && near !== document.body && textOf(near).trim() === "") near = near.parentElement;
  const words = near === null || near === document.body ? "" : textOf(near);
  const classes = element.getAttribute("class") ?? "";
  return {
    tag: element.tagName.toLowerCase(),
    label: (isShape && element.textContent.trim()) || element.title || classes || element.id,
    color: hex(isShape ? (style.fill === "none" ? style.stroke : style.fill) : style.backgroundColor),
    box: [x, y, width, height].map(Math.round),
    near: words.replace(/\s+/g, " ").trim(),
  };
})`);

const pathOf = pageFunction<unknown[], number, string | null>(String.raw`(elements, index) => {
  const element = elements[index];
  if (!element?.isConnected) return null;
  const parts = [];
  for (let node = element; node !== document.documentElement; node = node.parentElement)
    parts.unshift("*:nth-child(" + (Array.prototype.indexOf.call(node.parentElement.children, node) + 1) + ")");
  return [":root", ...parts].join(" > ");
}`);
