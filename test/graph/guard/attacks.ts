import { functionAttacks } from './attacks-functions.js';
import { patternAttacks } from './attacks-patterns.js';
import { textAttacks } from './attacks-text.js';
import type { Query } from './worlds.js';

export const attacks: Query[] = [...patternAttacks, ...textAttacks, ...functionAttacks];
