// Build of the page; root, base and output folder come from scripts/build.ts.
import { defineConfig } from "vite";

import manifest from "../package.json" with { type: "json" };

export default defineConfig({
  base: "./",
  define: { __PAGE_VERSION__: JSON.stringify(manifest.version) },
  build: {
    target: "es2022",
    // The content policy of the gateway allows no inline scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The page imports constants of src/protocol, but none of its schemas.
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ["Type", "checker"],
        moduleSideEffects: [{ test: /[\\/]typebox[\\/]/, sideEffects: false }],
      },
    },
  },
});
