// A process that swaps what an approval was given for against something else, as fast as it can, until it is killed.
import { copyFileSync, linkSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [kind = "", folder = ""] = process.argv.slice(2);
const at = (name: string): string => join(folder, name);

/** Puts it in place by one rename, so that the name is never without a file. */
const swap = (make: () => void, name: string): void => {
  make();
  renameSync(at("next"), at(name));
};

/** What the kernel is just about to execute cannot be written to. */
const rewrite = (path: string, bytes: Buffer): void => {
  try {
    writeFileSync(path, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ETXTBSY") throw error;
  }
};

/** Good, evil, and the name both are put under. */
const scripts = ["run.sh", "tool", "run.py", "run.mjs"].map(
  (name) => [`scripts.good/${name}`, `scripts.evil/${name}`, `work/${name}`] as const,
);

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
  /** Every script: another file gets its name. */
  "script-rename"() {
    for (const [good, evil, name] of scripts) {
      swap(() => copyFileSync(at(evil), at("next")), name);
      swap(() => linkSync(at(good), at("next")), name);
    }
  },
  "script-symlink"() {
    for (const [good, evil, name] of scripts) {
      swap(() => symlinkSync(at(evil), at("next")), name);
      swap(() => linkSync(at(good), at("next")), name);
    }
  },
  "script-hard-link"() {
    for (const [good, evil, name] of scripts) {
      swap(() => linkSync(at(evil), at("next")), name);
      swap(() => linkSync(at(good), at("next")), name);
    }
  },
  /** The same file, other bytes: through its own name and through a second one. */
  "script-rewrite"() {
    for (const [good, evil, name] of scripts) {
      const [ours, theirs] = [readFileSync(at(good)), readFileSync(at(evil))];
      for (const target of [at(name), `${at(name)}.second`]) {
        rewrite(target, theirs);
        rewrite(target, ours);
      }
    }
  },
  /** The folder above: renamed away, another one in its place. */
  "script-parent"() {
    renameSync(at("work"), at("work.away"));
    renameSync(at("work.evil"), at("work"));
    renameSync(at("work"), at("work.evil"));
    renameSync(at("work.away"), at("work"));
  },
};

const turn = turns[kind];
if (turn === undefined) throw new Error(`unknown race: ${kind}`);
process.stdout.write("racing\n");
for (;;) turn();
