// Any process of the same user can send SIGUSR1, and Node answers it with a debugger on a port: whoever connects runs code there.

/** For each Node that we start. */
export const NO_DEBUGGER = "--disable-sigusr1";

/** For this process, where the command line is not ours: a signal that is listened to starts no debugger. */
export function refuseDebugger(): void {
  if (process.platform !== "win32") process.on("SIGUSR1", () => undefined);
}
