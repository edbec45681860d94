import type { Generator } from './generator.js';
import { oapiCodegen, openApiGeneratorGo, openApiGeneratorJava } from './compiled.js';
import { openApiGeneratorPython, openApiPythonClient } from './python.js';
import { heyApi, openApiGeneratorFetch, openApiTypescript } from './typescript.js';

/** The generators whose clients are tested, those that need the least time first. */
export const generators: readonly Generator[] = [
  openApiTypescript,
  heyApi,
  openApiPythonClient,
  oapiCodegen,
  openApiGeneratorPython,
  openApiGeneratorFetch,
  openApiGeneratorGo,
  openApiGeneratorJava,
];
