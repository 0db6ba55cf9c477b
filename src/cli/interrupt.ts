// Ctrl-C: the first one asks the command to stop, the second one ends the process.

/** Returns a function that stops catching. SIGTERM counts too. */
export function onInterrupt(first: () => void): () => void {
  let asked = false;
  const caught = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(signal === "SIGINT" ? 130 : 143);
    asked = true;
    first();
  };
  process.on("SIGINT", caught);
  process.on("SIGTERM", caught);
  return () => {
    process.off("SIGINT", caught);
    process.off("SIGTERM", caught);
  };
}
