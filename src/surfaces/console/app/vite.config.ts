import { defineConfig } from 'vite';

// eslint-disable-next-line no-restricted-syntax -- Vite reads the default export.
export default defineConfig({
  // The files of the app are found relative to the page (app-pages.ts) and to each other.
  base: './',
  build: {
    outDir: '../../../../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    rolldownOptions: {
      // Packages mark code for browsers, which all of this is.
      onwarn: (warning, warn) => void (warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning)),
    },
  },
});
