// Whether the Node.js version is supported.
import { ok, type Check } from "./check.ts";

export const node: Check = {
  name: "Node",
  needsConfig: false,
  run() {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    if (major > 24 || (major === 24 && minor >= 15)) return [ok(`version ${process.versions.node}`)];
    return [
      {
        level: "fail",
        message: `version ${process.versions.node} is too old; 24.15 or newer is needed`,
        hint: "install Node 24 from https://nodejs.org",
      },
    ];
  },
};
