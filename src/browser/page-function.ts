// Functions that run in a page. They are source text, because this program has no types of the DOM.

/** Playwright sends the text of a function to the page and calls it there. */
export function pageFunction<On, Arg, Result>(source: string): (on: On, arg: Arg) => Result {
  const stand = (): Result => {
    throw new Error("this function runs in a page only");
  };
  return Object.assign(stand, { toString: () => source });
}
