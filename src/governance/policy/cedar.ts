import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

/**
 * The Cedar engine, loaded as CommonJS. Its ES module entry needs a bundler or a Node.js flag for the WebAssembly
 * import.
 */
export const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar;
