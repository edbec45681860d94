import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

/**
 * Cedar's engine. Its ES module entry needs a bundler or a flag of Node for the WebAssembly import, while the build
 * for Node is CommonJS only; the package's own types describe both.
 */
export const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar;
