// A process that swaps what an approval was given for against something else, as fast as it can, until it is killed.
import { linkSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const [kind = "", folder = ""] = process.argv.slice(2);
const at = (name: string): string => join(folder, name);

/** Puts it in place by one rename, so that the name is never without a file. */
const swap = (make: () => void, name: string): void => {
  make();
  renameSync(at("next"), at(name));
};

const turns: Record<string, () => void> = {
  /** tool: a second name of the program that was allowed, then one of the other. */
  program() {
    swap(() => linkSync(at("evil"), at("next")), "tool");
    swap(() => linkSync(at("good"), at("next")), "tool");
  },
  /** tool: the program that was allowed, then a link to the other. */
  link() {
    swap(() => symlinkSync(at("evil"), at("next")), "tool");
    swap(() => linkSync(at("good"), at("next")), "tool");
  },
  /** place: a link to the folder that was allowed, then to the other. */
  folder() {
    swap(() => symlinkSync(at("bad-place"), at("next")), "place");
    swap(() => symlinkSync(at("good-place"), at("next")), "place");
  },
};

const turn = turns[kind];
if (turn === undefined) throw new Error(`unknown race: ${kind}`);
process.stdout.write("racing\n");
for (;;) turn();
