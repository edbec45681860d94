import { capitalized, type InboxItem } from '../api.js';
import { auditWords, itemKindWords, operationWords, stageWords } from './operations.js';

const actionWords = new Map(Object.entries({ ...operationWords, ...auditWords }));

/** What an operation or an action of the audit chain does. A name without words is written with spaces. */
export const operationText = (name: string): string =>
  actionWords.get(name) ?? capitalized(name.replaceAll(/[._-]+/g, ' ').trim());

const choicesOf = (words: Readonly<Record<string, string>>) =>
  Object.entries(words)
    .map(([value, name]) => ({ value, name }))
    .sort((one, other) => one.name.localeCompare(other.name));

/** For filters. */
export const operationChoices = choicesOf(operationWords);
export const actionChoices = choicesOf({ ...operationWords, ...auditWords });

export const stageText = (stage: string): string => stageWords[stage] ?? stage;

export function kindText(item: InboxItem): string {
  const isPreview = item.kind === 'approval' && item.body.tool === 'execution.preview';
  return itemKindWords[isPreview ? 'preview' : item.kind] ?? item.kind;
}
