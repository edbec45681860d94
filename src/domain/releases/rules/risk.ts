import { z } from 'zod';
import type { Action, SchemaField } from '../../agentflows/record/skills.js';
import type { PlainAgent, PlainContent } from './content.js';

export const Risk = z.object({
  kind: z.enum([
    ...(['new_category', 'new_host', 'new_method', 'new_tool', 'changed_tool', 'destructive_tool'] as const),
    ...(['new_connector', 'new_scope', 'larger_budget', 'dropped_preview', 'dropped_check', 'dropped_mark'] as const),
  ]),
  path: z.string().describe('Where it is.').meta({ example: 'agents/writer/skills/post/actions/send' }),
  text: z.string().meta({ example: 'calls api.example.com, which no run has called before' }),
});
export type Risk = z.infer<typeof Risk>;

interface Act {
  path: string;
  action: Pick<Action, 'category' | 'method' | 'endpoint' | 'input_schema'>;
  slot: string | null;
}

/** What the runs of `to` may do that those of `from` could not, and what no longer stops them. */
export function risksOf(from: PlainContent | null, to: PlainContent): Risk[] {
  return [
    ...actRisks(from ? actsOf(from) : [], actsOf(to)),
    ...toolRisks(from, to),
    ...slotRisks(from, to),
    ...to.agents.flatMap((agent) =>
      agentRisks(
        from?.agents.find(({ _id }) => _id === agent._id),
        agent,
      ),
    ),
    ...to.steps.flatMap((step) =>
      stepRisks(
        from?.steps.find(({ _id }) => _id === step._id),
        step,
      ),
    ),
    ...droppedStops(from, to),
  ];
}

function actsOf({ agents, steps }: PlainContent): Act[] {
  return [
    ...agents.flatMap(({ _id, skills }) =>
      skills.flatMap(({ _id: skillId, slot, actions }) =>
        actions.map((action) => ({ path: `agents/${_id}/skills/${skillId}/actions/${action._id}`, action, slot })),
      ),
    ),
    ...steps.flatMap(({ _id, type, action, slot }) =>
      type === 'action'
        ? [{ path: `steps/${String(_id)}`, action: action as Act['action'], slot: (slot ?? null) as string | null }]
        : [],
    ),
  ];
}

/** The server of an HTTP call, or the slot whose connector has its address. */
function hostOf({ action: { category, endpoint }, slot }: Act): string | undefined {
  if (category !== 'restful') return undefined;
  if (URL.canParse(endpoint)) return new URL(endpoint).host;
  return slot === null ? undefined : `the connector of the slot ${slot}`;
}

function actRisks(from: readonly Act[], to: readonly Act[]): Risk[] {
  const [categories, hosts] = [new Set<string>(from.map(({ action }) => action.category)), new Set(from.map(hostOf))];
  const callOf = (act: Act) => `${act.action.method} ${hostOf(act) ?? ''}`;
  const calls = new Set(from.map(callOf));
  return to.flatMap((act): Risk[] => {
    const { path, action } = act;
    const risks: Risk[] = [];
    const host = hostOf(act);
    if (!categories.has(action.category))
      risks.push({ kind: 'new_category', path, text: `makes acts of the category ${action.category}` });
    if (host !== undefined && !hosts.has(host)) risks.push({ kind: 'new_host', path, text: `calls ${host}` });
    else if (host !== undefined && !calls.has(callOf(act)))
      risks.push({ kind: 'new_method', path, text: `calls ${host} with ${action.method}` });
    const marks = marksOf(from.find((each) => each.path === path)?.action.input_schema.fields);
    const present = marksOf(action.input_schema.fields);
    for (const mark of marks)
      if (!present.includes(mark))
        risks.push({
          kind: 'dropped_mark',
          path,
          text: `no field is marked as ${mark} any more, which rules may read`,
        });
    return risks;
  });
}

function marksOf(fields: readonly SchemaField[] = []): string[] {
  return fields.flatMap(({ mark }) => mark ?? []);
}

function toolRisks(from: PlainContent | null, to: PlainContent): Risk[] {
  return to.tools.flatMap(({ slot, name, hash, is_destructive }): Risk[] => {
    const path = `tools/${slot}/${name}`;
    const before = from?.tools.find((tool) => tool.slot === slot && tool.name === name);
    if (before?.hash === hash) return [];
    const what = before
      ? { kind: 'changed_tool' as const, path, text: `the definition of the tool ${name} has changed` }
      : { kind: 'new_tool' as const, path, text: `may call the tool ${name}` };
    const destroys = { kind: 'destructive_tool' as const, path, text: `the tool ${name} may destroy data` };
    return is_destructive && before?.is_destructive !== true ? [what, destroys] : [what];
  });
}

function slotRisks(from: PlainContent | null, to: PlainContent): Risk[] {
  const known = new Set(from?.slots.map(({ name, category }) => `${category} ${name}`));
  return to.slots
    .filter(({ name, category }) => !known.has(`${category} ${name}`))
    .map(({ name, category }) => ({
      kind: 'new_connector',
      path: `slots/${name}`,
      text: `uses the account of a ${category} connector`,
    }));
}

const defaultBudget = { max_turns: 12, max_total_tokens: 500_000 } as const;

function agentRisks(before: PlainAgent | undefined, agent: PlainAgent): Risk[] {
  const path = `agents/${agent._id}`;
  const budgets = [
    ['turns', budgetOf(before, 'max_turns'), budgetOf(agent, 'max_turns')],
    ['tokens in all turns', budgetOf(before, 'max_total_tokens'), budgetOf(agent, 'max_total_tokens')],
    ['tokens of one answer', before ? (before.llm.max_tokens ?? Infinity) : 0, agent.llm.max_tokens ?? Infinity],
  ] as const;
  return [
    ...budgets.flatMap(([what, from, to]): Risk[] => (to > from ? [larger(path, what, from, to)] : [])),
    ...(agent.has_knowledge_base && before?.has_knowledge_base !== true
      ? [{ kind: 'new_scope' as const, path, text: 'reads the context graph (svc:query.read)' }]
      : []),
  ];
}

function budgetOf(agent: PlainAgent | undefined, field: keyof typeof defaultBudget): number {
  return agent ? (agent[field] ?? defaultBudget[field]) : 0;
}

function larger(path: string, what: string, from: number, to: number): Risk {
  const textOf = (value: number) => (value === Infinity ? 'any number of' : value.toLocaleString('en-US'));
  return { kind: 'larger_budget', path, text: `${textOf(to)} ${what} instead of ${textOf(from)}` };
}

function stepRisks(before: Record<string, unknown> | undefined, step: Record<string, unknown>): Risk[] {
  const path = `steps/${String(step._id)}`;
  const [from, to] = [Number(before?.max_rounds ?? 0), Number(step.max_rounds ?? 0)];
  const [table, earlier] = [tableSlotOf(step), tableSlotOf(before)];
  return [
    ...(to > from ? [larger(path, 'rounds', from, to)] : []),
    ...(table !== undefined && table !== earlier
      ? [{ kind: 'new_scope' as const, path, text: `reads the rows of the table in the slot ${table}` }]
      : []),
  ];
}

/** The slot of the table whose rows are the items of a `map`. */
function tableSlotOf(step: Record<string, unknown> | undefined): string | undefined {
  const items = step?.items;
  return typeof items === 'object' && items !== null && 'slot' in items ? String(items.slot) : undefined;
}

/** Previews and checks that were on before. */
function droppedStops(from: PlainContent | null, to: PlainContent): Risk[] {
  const previews = (from?.agents ?? []).filter(
    ({ _id, is_preview_mode_enabled }) =>
      is_preview_mode_enabled && to.agents.find((agent) => agent._id === _id)?.is_preview_mode_enabled !== true,
  );
  const [before, after] = [from, to].map((content) => isChecked(content?.agentflow));
  return [
    ...previews.map(({ _id }) => ({
      kind: 'dropped_preview' as const,
      path: `agents/${_id}`,
      text: 'no person decides any more before it acts',
    })),
    ...(before && !after
      ? [{ kind: 'dropped_check' as const, path: 'agentflow', text: 'outputs are no longer checked for anomalies' }]
      : []),
  ];
}

function isChecked(agentflow: Record<string, unknown> | undefined): boolean {
  return (agentflow?.anomaly_detection as { is_enabled?: boolean } | undefined)?.is_enabled === true;
}
