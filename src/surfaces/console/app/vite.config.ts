import { defineConfig } from 'vite';

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  // The app finds its files relative to the page (app-pages.ts) and to each other.
  base: './',
  build: {
    outDir: '../../../../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    rolldownOptions: {
      // Packages mark modules with "use client", but the whole app runs in the browser.
      onwarn: (warning, warn) => void (warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning)),
    },
  },
});
