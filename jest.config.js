import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.$schema;

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', swc],
    '/(dist|node_modules)/.+\\.[cm]?js$': '<rootDir>/dist/test/support/native-modules.js',
  },
  transformIgnorePatterns: ['/dist/test/'],
  moduleNameMapper: {
    // Tests run the built product.
    '^(?:\\.\\./)+((?:src|workflows|activities|stack|bench)/.*)\\.js$': '<rootDir>/dist/$1.js',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // Built: jest loads a setup in TypeScript as CommonJS only.
  testEnvironment: '<rootDir>/dist/test/support/environment.js',
  globalSetup: '<rootDir>/dist/test/support/global-setup.js',
  globalTeardown: '<rootDir>/dist/test/support/global-teardown.js',
  testSequencer: '<rootDir>/dist/test/support/sequencer.js',
  // For a busy machine: a test may start several processes.
  testTimeout: 300_000,
  // Tests wait for processes and timers much of the time: four use two processors better than two.
  maxWorkers: 4,
  // ES modules of earlier files are never freed: near the heap's limit the collector takes most of the time.
  workerIdleMemoryLimit: '1GB',
};
