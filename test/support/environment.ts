import { createRequire } from 'node:module';
import type { EnvironmentContext, JestEnvironmentConfig } from '@jest/environment';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

const errorTypes = [
  'Error',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
] as const;

/**
 * Jest runs each file in a V8 context with its own built-in classes, where an error of Node's core is not an
 * `instanceof Error`. Here the context uses the error classes of the process. Errors that V8 itself throws in the
 * context keep the context's prototypes, which inherit from those of the process.
 */
export default class TestEnvironment extends NodeEnvironment {
  constructor(config: JestEnvironmentConfig, context: EnvironmentContext) {
    super(config, context);
    this.global.loadNatively = createRequire(import.meta.url);
    for (const type of errorTypes) {
      const shared = globalThis[type];
      Object.setPrototypeOf(this.global[type].prototype, shared.prototype);
      Object.defineProperty(this.global, type, { value: shared, configurable: true, writable: true });
    }
  }
}
