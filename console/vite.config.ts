import path from 'node:path';
import { defineConfig } from 'vite';

/** `waterfall-bar` for `.bar` of waterfall.module.css, and `waterfall` for its `.waterfall`. */
function classNameOf(local: string, file: string): string {
  const component = path.basename(file).replace(/\.module\.css.*$/, '');
  return local === component ? component : `${component}-${local}`;
}

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  // The app finds its files relative to the page (app-pages.ts) and to each other.
  base: './',
  resolve: { tsconfigPaths: true },
  css: { modules: { generateScopedName: classNameOf } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // One small file, whose rules have the same order on every page.
    cssCodeSplit: false,
    // The largest is loaded only for a file in an unusual encoding.
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few requests: what several pages share is one file, and the libraries of all pages are another one.
          groups: [
            { name: 'libraries', test: /node_modules/, minShareCount: 2 },
            { name: 'shared', test: /console\/src\//, minShareCount: 2 },
          ],
        },
      },
      // Packages mark modules with "use client", but the whole app runs in the browser.
      onwarn: (warning, warn) => void (warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning)),
    },
  },
});
