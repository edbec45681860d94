import type { Catalog } from '../operations/catalog.js';
import type { PolicyRule } from './rule.js';

/** A condition reaches the mode only by its name, possibly with escapes, or through the whole context. */
const mayReadMode = /mode|\\|context(?!\s*\.)/;

/** The rules whose condition can depend on the mode of the project, with the catalogue that resolves their names. */
export interface ModeRules {
  modeRules: readonly PolicyRule[];
  catalog: Catalog;
}

export function rulesThatReadMode(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  return rules.filter(({ when }) => when !== undefined && mayReadMode.test(when));
}

/** Whether the decision on this operation can depend on the mode of the project. Otherwise, the mode is not read. */
export function asksForMode({ modeRules, catalog }: ModeRules, operation: string): boolean {
  return modeRules.some(({ tools }) => tools?.some((tool) => catalog.find(tool)?.name === operation) ?? true);
}
