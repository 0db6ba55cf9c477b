// Disables the debugger that Node opens on SIGUSR1: any process of the same user could send the signal and run code.

/** Options for each Node process that we start. */
export const NO_DEBUGGER = "--disable-sigusr1";

/** For this process, whose command line we do not control: a signal with a listener does not start the debugger. */
export function refuseDebugger(): void {
  if (process.platform !== "win32") process.on("SIGUSR1", () => undefined);
}
