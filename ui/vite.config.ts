// How the page is built; root, base and output folder come from scripts/build.ts.
import { defineConfig } from "vite";

import manifest from "../package.json" with { type: "json" };

export default defineConfig({
  base: "./",
  define: { __PAGE_VERSION__: JSON.stringify(manifest.version) },
  build: {
    target: "es2022",
    // The gateway allows scripts and styles from itself only, so nothing may be folded into the document.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Schemas of the wire are declared at the top of src/protocol; the page uses a few words from there and no schema.
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ["Type", "checker"],
        moduleSideEffects: [{ test: /[\\/]typebox[\\/]/, sideEffects: false }],
      },
    },
  },
});
