// Turns an error of Playwright into a sentence with its cause that a model can act on.
import { OpenClawError } from "../../core/error.ts";
import { neutralize } from "../../base/untrusted-content.ts";
import { browserError } from "../errors.ts";
import { plain } from "../snapshot/text.ts";

const again = "Take a new snapshot";

const causes: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [
    /(<[^\n>]{1,300}>)[^\n]* intercepts pointer events/,
    ([, what = ""]) =>
      `the element is covered by ${neutralize(plain(what, 120))}. Close or move what covers it, or act on that element`,
  ],
  [
    /strict mode violation[^\n]*resolved to (\d+) elements/,
    ([, count = ""]) => `${count} elements match. ${again} and choose one`,
  ],
  [
    /element is not visible/,
    () => "the element is not visible. Scroll to it, open what contains it, or use another element",
  ],
  [/element is not enabled/, () => "the element is disabled. Fill in what it depends on first"],
  [/element is not editable/, () => "the element is read-only. Use the control beside it, or keys"],
  [
    /element is outside of the viewport/,
    () => "the element is outside of the viewport and cannot be scrolled into view",
  ],
  [/element is not stable/, () => "the element keeps moving. Wait until the animation ends"],
  [
    /did not find some options/,
    () => "the list has no such option. Use the text or value of an option in the snapshot",
  ],
  [/Element is not an? ([^\n]{1,120})/, ([, what = ""]) => `the element is not ${plain(what, 100)}`],
  [/Malformed value/, () => "the field does not accept this value. Ranges take a number, color fields #aabbcc"],
  [/Not a checkbox or radio button/, () => "the element is not a checkbox or radio button. Use click"],
  [
    /Unknown key: "([^"\n]{1,40})"/,
    ([, key = ""]) => `unknown key "${plain(key)}". Use names such as Enter, ArrowDown, Control+a`,
  ],
  [/element was detached|not attached to the DOM/, () => `the element was removed. ${again}`],
  [/Target (page|closed)|has been closed/, () => "the tab was closed. List the tabs with action=tabs"],
  [/Target crashed|Page crashed/, () => "the page crashed. Navigate again"],
];

export function actFailure(what: string, error: unknown, ms: number): Error {
  if (error instanceof OpenClawError) return error;
  const message = error instanceof Error ? error.message : String(error);
  for (const [pattern, say] of causes) {
    const match = pattern.exec(message);
    if (match !== null) return browserError("browser.failed", `${what} failed: ${say(match)}.`, { cause: error });
  }
  if (error instanceof Error && error.name === "TimeoutError")
    return browserError("browser.timeout", `${what} did not finish within ${ms} ms. ${again} to see the page.`, {
      cause: error,
    });
  const line = message.replace(/^[a-zA-Z.]+: /, "").split("\n", 1)[0] ?? "";
  return browserError("browser.failed", `${what} failed: ${plain(line, 300)}`, { cause: error });
}
