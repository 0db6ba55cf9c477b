// The places that the frames of one page showed, in order, so that a page cannot visit a blocked one between two checks.
import type { Frame, Page } from "playwright-core";

export interface Place {
  /** Of http and https pages. */
  readonly origin?: string;
  /** Such as `about:`. */
  readonly scheme: string;
  readonly isMain: boolean;
}

interface Visit extends Place {
  readonly number: number;
  isChecked: boolean;
}

const MAX_PLACES = 1000;

export class Visits {
  readonly #page: Page;
  /** By place: only the last visit counts, so that a page that reloads without end takes no memory. */
  readonly #visits = new Map<string, Visit>();
  #count = 0;
  /** Visits up to this number may have been forgotten. */
  #forgotten = 0;

  constructor(page: Page) {
    this.#page = page;
    page.on("framenavigated", (frame) => this.#add(frame));
  }

  get count(): number {
    return this.#count;
  }

  /** What the frames show now. */
  shown(): readonly Place[] {
    return distinct(this.#page.frames().map((frame) => placeOf(frame, this.#page)));
  }

  /** After the visit of this number. One that was forgotten counts as a place of unknown scheme. */
  since(number: number): readonly Place[] {
    const known = [...this.#visits.values()].filter((visit) => visit.number > number);
    return this.#forgotten > number ? [...known, { scheme: "unknown:", isMain: true }] : known;
  }

  /** Each visit is returned once. */
  takeUnchecked(): readonly Place[] {
    const found = [...this.#visits.values()].filter(({ isChecked }) => !isChecked);
    for (const visit of found) visit.isChecked = true;
    return found;
  }

  #add(frame: Frame): void {
    const place = placeOf(frame, this.#page);
    const key = keyOf(place);
    this.#visits.delete(key);
    this.#visits.set(key, { ...place, number: ++this.#count, isChecked: false });
    if (this.#visits.size <= MAX_PLACES) return;
    const [oldest] = this.#visits;
    if (oldest === undefined) return;
    this.#forgotten = oldest[1].number;
    this.#visits.delete(oldest[0]);
  }
}

function placeOf(frame: Frame, page: Page): Place {
  const isMain = frame === page.mainFrame();
  const url = URL.parse(frame.url().replace(/^(?:blob|filesystem):/, ""));
  if (url === null) return { scheme: "", isMain };
  const { protocol: scheme, origin } = url;
  return scheme === "http:" || scheme === "https:" ? { origin, scheme, isMain } : { scheme, isMain };
}

function distinct(places: readonly Place[]): readonly Place[] {
  return [...new Map(places.map((place) => [keyOf(place), place])).values()];
}

const keyOf = ({ origin, scheme, isMain }: Place): string => `${isMain} ${origin ?? scheme}`;
