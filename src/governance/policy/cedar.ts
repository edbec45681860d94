import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

const require = createRequire(import.meta.url);

/**
 * The Cedar engine. Loads it at the first call, because it takes 14 MiB. It is loaded as CommonJS, because its ES module
 * entry needs a bundler or a flag of Node.js for the WebAssembly import.
 */
export const cedar = (): typeof Cedar => require('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar;
