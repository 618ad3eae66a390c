import { defineConfig } from "vite";

// One ES module with a fixed name, that exports render(): a page of its own and a TensorBoard plugin load the same file.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/tdbg/web/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: "src/index.tsx",
      preserveEntrySignatures: "strict",
      output: {
        format: "es",
        entryFileNames: "index.js",
        assetFileNames: (asset) =>
          asset.names.some((name) => name.endsWith(".css")) ? "style.css" : "[name][extname]",
      },
    },
  },
});
