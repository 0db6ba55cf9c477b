// The two entrances of the composed house: a gateway that serves, and the tools alone for the command line.
export { runGateway } from "./app/run.ts";
export { openOffline } from "./app/offline.ts";
