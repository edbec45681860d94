import { z } from 'zod';
import type { Action, SchemaField } from '../../agentflows/record/skills.js';
import type { PlainAgent, PlainContent } from './content.js';

export const Risk = z.object({
  kind: z.enum([
    ...(['new_category', 'new_host', 'new_method', 'new_tool', 'changed_tool', 'destructive_tool'] as const),
    ...(['new_connector', 'new_scope', 'new_flow', 'changed_flow', 'larger_budget'] as const),
    ...(['dropped_preview', 'dropped_question', 'dropped_check', 'dropped_mark'] as const),
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
    ...flowRisks(from ? startedReleases(from) : [], startedReleases(to)),
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

/** The server that an act calls by its address, or the slot whose connector has the address. */
function hostOf({ action: { category, endpoint }, slot }: Act): string | undefined {
  if (URL.canParse(endpoint)) return new URL(endpoint).host;
  return category === 'restful' && slot !== null ? `the connector of the slot ${slot}` : undefined;
}

/** What an act does, in words: an HTTP call of a server, or an operation of a connector. Tools and agentflows are compared apart. */
function callOf(act: Act): string | undefined {
  const { category, method, endpoint } = act.action;
  const host = hostOf(act);
  if (host !== undefined) return `calls ${host} with ${method}`;
  return category === 'mcp' || category === 'agentflow' || endpoint === ''
    ? undefined
    : `calls the operation ${endpoint} of ${category}`;
}

function actRisks(from: readonly Act[], to: readonly Act[]): Risk[] {
  const known = {
    categories: new Set<string>(from.map(({ action }) => action.category)),
    hosts: new Set(from.map(hostOf)),
    calls: new Set(from.map(callOf)),
  };
  return to.flatMap((act): Risk[] => {
    const { path, action } = act;
    const [host, call] = [hostOf(act), callOf(act)];
    const isNewHost = host !== undefined && !known.hosts.has(host);
    const risks: Risk[] = [];
    if (!known.categories.has(action.category))
      risks.push({ kind: 'new_category', path, text: `makes acts of the category ${action.category}` });
    if (isNewHost) risks.push({ kind: 'new_host', path, text: `calls ${host}` });
    else if (call !== undefined && !known.calls.has(call)) risks.push({ kind: 'new_method', path, text: call });
    return [...risks, ...droppedMarks(from, act)];
  });
}

/** The marks that the same act had before or, if it is new, those of the acts that made the same call. */
function droppedMarks(from: readonly Act[], act: Act): Risk[] {
  const same = from.find(({ path }) => path === act.path);
  const call = callOf(act);
  const before = same ? [same] : from.filter((each) => call !== undefined && callOf(each) === call);
  const marks = new Set(before.flatMap(({ action }) => marksOf(action.input_schema.fields)));
  for (const mark of marksOf(act.action.input_schema.fields)) marks.delete(mark);
  return [...marks].map((mark) => ({
    kind: 'dropped_mark',
    path: act.path,
    text: `no field is marked as ${mark} any more, which rules may read`,
  }));
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

interface Start {
  path: string;
  release: string;
}

/** The releases of other agentflows that runs start: by `flow` steps, and by acts whose endpoint is the digest of a release. */
function startedReleases(content: PlainContent): Start[] {
  const steps = content.steps.filter(({ type }) => type === 'flow');
  return [
    ...steps.map(({ _id, release }) => ({ path: `steps/${String(_id)}`, release: String(release) })),
    ...actsOf(content)
      .filter(({ action }) => action.category === 'agentflow')
      .map(({ path, action }) => ({ path, release: action.endpoint })),
  ];
}

function flowRisks(from: readonly Start[], to: readonly Start[]): Risk[] {
  const known = new Set(from.map(({ release }) => release));
  return to
    .filter(({ release }) => !known.has(release))
    .map(({ path }) =>
      from.some((start) => start.path === path)
        ? { kind: 'changed_flow', path, text: 'starts another release, whose own difference shows what it does' }
        : { kind: 'new_flow', path, text: 'starts another agentflow, with all that it may do' },
    );
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

/** The limits of a step, by their fields. */
const stepLimits = { max_rounds: 'rounds', concurrency: 'items at once' } as const;

function stepRisks(before: Record<string, unknown> | undefined, step: Record<string, unknown>): Risk[] {
  const path = `steps/${String(step._id)}`;
  const [table, earlier] = [tableSlotOf(step), tableSlotOf(before)];
  const limits = Object.entries(stepLimits).map(([field, what]) => {
    const [from, to] = [Number(before?.[field] ?? 0), Number(step[field] ?? 0)];
    return { what, from, to };
  });
  return [
    ...limits.filter(({ from, to }) => to > from).map(({ what, from, to }) => larger(path, what, from, to)),
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

/** Previews, questions and checks that were there before. */
function droppedStops(from: PlainContent | null, to: PlainContent): Risk[] {
  if (!from) return [];
  const previews = from.agents.filter(
    ({ _id, is_preview_mode_enabled }) =>
      is_preview_mode_enabled && to.agents.find((agent) => agent._id === _id)?.is_preview_mode_enabled !== true,
  );
  const asked = from.steps.filter(({ type }) => type === 'ask');
  const isChecked = (content: PlainContent) =>
    (content.agentflow.anomaly_detection as { is_enabled?: boolean } | undefined)?.is_enabled === true;
  return [
    ...previews.map(({ _id }) => ({
      kind: 'dropped_preview' as const,
      path: `agents/${_id}`,
      text: 'no person decides any more before it acts',
    })),
    ...asked.flatMap((step) =>
      questionRisk(
        step,
        to.steps.find(({ _id, type }) => _id === step._id && type === 'ask'),
      ),
    ),
    ...(isChecked(from) && !isChecked(to)
      ? [{ kind: 'dropped_check' as const, path: 'agentflow', text: 'outputs are no longer checked for anomalies' }]
      : []),
  ];
}

function questionRisk(before: Record<string, unknown>, after: Record<string, unknown> | undefined): Risk[] {
  const [kind, path] = ['dropped_question' as const, `steps/${String(before._id)}`];
  if (!after) return [{ kind, path, text: 'no person is asked any more' }];
  return before.on_timeout === 'fail' && after.on_timeout !== 'fail'
    ? [{ kind, path, text: 'goes on without an answer after its deadline' }]
    : [];
}
