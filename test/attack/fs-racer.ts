// A process that swaps a file or a folder for a link that leads out, as fast as it can, until it is killed.
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [kind = "", ws = "", out = ""] = process.argv.slice(2);
const at = (name: string): string => join(ws, name);

const turns: Record<string, () => void> = {
  /** swap-me: a file, then a link to the secret, each put in place by one rename. */
  file() {
    symlinkSync(join(out, "secret"), at("swap-link"));
    renameSync(at("swap-link"), at("swap-me"));
    writeFileSync(at("swap-file"), "inside\n");
    renameSync(at("swap-file"), at("swap-me"));
  },
  /** swap-me: a file, then a second name of the secret. */
  hard() {
    linkSync(join(out, "secret"), at("swap-link"));
    renameSync(at("swap-link"), at("swap-me"));
    writeFileSync(at("swap-file"), "inside\n");
    renameSync(at("swap-file"), at("swap-me"));
  },
  /** race/dir: a folder, then a link to the folder outside. */
  folder() {
    rmSync(at("race-held"), { recursive: true, force: true });
    renameSync(at("race/dir"), at("race-held"));
    symlinkSync(out, at("race/dir"));
    unlinkSync(at("race/dir"));
    renameSync(at("race-held"), at("race/dir"));
  },
  /** made: nothing, then a link out, then a folder: the moment between making a folder and using it. */
  making() {
    rmSync(at("made"), { recursive: true, force: true });
    try {
      symlinkSync(out, at("made"));
      unlinkSync(at("made"));
      mkdirSync(at("made"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  },
};

const turn = turns[kind];
if (turn === undefined) throw new Error(`unknown race: ${kind}`);
process.stdout.write("racing\n");
for (;;) {
  try {
    turn();
  } catch (error) {
    // The other side writes in the same place; the next turn starts over.
    if (
      !["ENOTEMPTY", "ENOENT", "EEXIST", "EISDIR", "ENOTDIR", "EPERM"].includes(
        (error as NodeJS.ErrnoException).code ?? "",
      )
    )
      throw error;
  }
}
