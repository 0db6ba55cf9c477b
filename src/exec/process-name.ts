// Names background commands: a two-word id and a short label derived from the command line.
import { randomInt } from "node:crypto";

const first =
  `amber ample apt bold brave brisk calm civil clean clear cool crisp deep deft dry eager early easy even fair fast fine firm
  fleet fond frank free fresh full gentle glad gold good grand great green happy hardy hazel humble jolly keen kind large late
  lean light lively local loyal lucid lucky mellow merry mild mint misty modest neat new nimble noble novel olive open pale
  plain plush polar prime proud pure quick quiet rapid rare ready rich ripe rosy royal rural safe sage sandy sharp shy silent
  silver sleek slow smart snowy soft solar solid spare spry steady still stout sunny sure sweet swift tall tame tidy tiny trim
  true urban vast vivid warm wide wild wise witty young zesty`.split(/\s+/);
const second =
  `acorn alder anchor apple arbor aspen atlas badger bamboo basin bay beach beacon birch bison bloom breeze brook canyon cedar
  cliff cloud clover cobra comet coral cove crane creek crest cricket dale dawn delta desert dove dune eagle ember falcon fern
  field finch fjord flame fox frost garden gecko glade glen grove gulf harbor hare haven hawk heron hill ibis iris island ivy
  jade kelp lagoon lake lark leaf lemur lily lotus lynx maple marsh meadow mesa moon moss nebula oak oasis ocean orbit orchid
  osprey otter owl panda pebble peak pine plain planet pond poppy quail quartz rain raven reef ridge river robin sable sail
  seal shore sky spruce star stone storm summit swan thistle tide tiger trail tulip valley violet wave willow wolf wren`.split(
    /\s+/,
  );

/** Not a secret: the process table only returns the agent's own commands. */
export function newProcessId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = `${first[randomInt(first.length)] ?? "calm"}-${second[randomInt(second.length)] ?? "gulf"}`;
    if (!isTaken(id)) return id;
    const longer = `${id}-${randomInt(1000, 10_000)}`;
    if (!isTaken(longer)) return longer;
  }
}

const MAX_LABEL = 40;
/** Words about how to run something, not what. */
const prefixWords = new Set(["sudo", "env", "nohup", "nice", "time", "exec", "command", "run", "exec", "--", "-m"]);

/** `cd web && npm run build -- --fast` becomes `npm build`. */
export function labelOf(command: string): string {
  const parts = command.split(/&&|\|\||[;\n|]/).map((part) => part.trim());
  const line = parts.find((part) => part !== "" && !/^(?:cd|export|set|source|\.)\s/.test(part)) ?? command.trim();
  const words = line.split(/\s+/).filter((word) => !prefixWords.has(word) && !/^\w+=/.test(word));
  const verb = (words[0] ?? line).replace(/^.*\//, "");
  const target = words.slice(1).find((word) => !word.startsWith("-"));
  const label = target === undefined ? verb : `${verb} ${target}`;
  return label.length <= MAX_LABEL ? label : `${label.slice(0, MAX_LABEL - 1).toWellFormed()}…`;
}
