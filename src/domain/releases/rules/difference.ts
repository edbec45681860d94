import { z } from 'zod';
import { Digest, sha256Hex } from '../../../base/hash.js';
import { canonicalText } from '../../../base/json.js';
import type { ReleaseContent } from '../record.js';
import { plainContent, type PlainContent } from './content.js';
import { Hunk, hunksOf } from './hunks.js';
import { Risk, risksOf } from './risk.js';

const ChangedField = z.object({
  name: z.string().meta({ example: 'llm.model' }),
  from: z.unknown().describe('Null if it had no value.').meta({ example: 'gpt-5-mini' }),
  to: z.unknown().describe('Null if it has no value any more.').meta({ example: 'gpt-5' }),
  hunks: z.array(Hunk).optional().describe('Only for prompts and code, whose `from` and `to` are then null.'),
});

const Change = z.object({
  kind: z.enum(['agentflow', 'agent', 'skill', 'action', 'step', 'slot', 'tool', 'model']),
  path: z.string().describe('What has changed.').meta({ example: 'agents/reader' }),
  change: z.enum(['added', 'removed', 'changed']),
  fields: z.array(ChangedField).describe('Empty for what was removed.'),
});
type Change = z.infer<typeof Change>;

export const differenceFields = {
  digest: Digest.describe('SHA-256 of the canonical JSON (RFC 8785) of the changes and risks.'),
  changes: z.array(Change),
  risks: z.array(Risk).describe('What a run may do in addition, and what no longer stops it.'),
};
export type Difference = z.infer<z.ZodObject<typeof differenceFields>>;

type Part = Pick<Change, 'kind'> & { fields: Record<string, unknown> };

/** What a change from one release to another does. Without `from`, everything is new. */
export function differenceOf(from: ReleaseContent | null, to: ReleaseContent): Difference {
  const [before, after] = [from && plainContent(from), plainContent(to)];
  const [old, present] = [before ? partsOf(before) : new Map<string, Part>(), partsOf(after)];
  const changes = [...new Set([...old.keys(), ...present.keys()])].flatMap((path) =>
    changeOf(path, old.get(path), present.get(path)),
  );
  const risks = risksOf(before, after);
  return { digest: sha256Hex(canonicalText({ changes, risks })), changes, risks };
}

function partsOf({ agentflow, agents, steps, slots, tools, default_model }: PlainContent): Map<string, Part> {
  const parts = new Map<string, Part>();
  const add = (path: string, kind: Part['kind'], fields: Record<string, unknown>) => parts.set(path, { kind, fields });
  add('agentflow', 'agentflow', agentflow);
  for (const { _id, skills, llm, prompt, ...agent } of agents) {
    add(`agents/${_id}`, 'agent', { ...agent, ...prefixed('llm', llm), ...prefixed('prompt', prompt) });
    for (const { _id: skillId, actions, ...skill } of skills) {
      const path = `agents/${_id}/skills/${skillId}`;
      add(path, 'skill', skill);
      for (const { _id: actionId, ...action } of actions) add(`${path}/actions/${actionId}`, 'action', action);
    }
  }
  for (const { _id, ...step } of steps) add(`steps/${String(_id)}`, 'step', step);
  for (const { name, ...slot } of slots) add(`slots/${name}`, 'slot', slot);
  for (const { slot, name, ...tool } of tools) add(`tools/${slot}/${name}`, 'tool', tool);
  if (default_model) add('models/default', 'model', { ...default_model });
  return parts;
}

function prefixed(prefix: string, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${prefix}.${name}`, value as unknown]));
}

function changeOf(path: string, from: Part | undefined, to: Part | undefined): Change[] {
  if (!to) return from ? [{ kind: from.kind, path, change: 'removed', fields: [] }] : [];
  const names = [...new Set([...Object.keys(from?.fields ?? {}), ...Object.keys(to.fields)])];
  const fields = names.flatMap((name) => fieldOf(name, from?.fields[name], to.fields[name]));
  if (from && fields.length === 0) return [];
  return [{ kind: to.kind, path, change: from ? 'changed' : 'added', fields }];
}

/** Prompts and code are compared line by line. */
const longTexts: ReadonlySet<string> = new Set(['prompt.template', 'source']);

function fieldOf(name: string, from: unknown = null, to: unknown = null): Change['fields'] {
  if (canonicalText(from) === canonicalText(to)) return [];
  if (!longTexts.has(name)) return [{ name, from, to }];
  const [before, after] = [from, to].map((text) => (typeof text === 'string' ? text : ''));
  return [{ name, from: null, to: null, hunks: hunksOf(before ?? '', after ?? '') }];
}
