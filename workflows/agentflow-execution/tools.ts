import type { ModelTurn, ToolCall, ToolOffer, TurnMessage } from './activities.js';
import type { ActionPlan, AgentAtWork, AgentPlan, SkillPlan } from './messages.js';

export interface Tool {
  offer: ToolOffer;
  skill: SkillPlan;
  action: ActionPlan;
}

/** A call that can be run: its place among the calls of its turn, and what it is a call of. */
export interface PendingCall {
  id: string;
  index: number;
  tool: Tool;
  arguments: Record<string, unknown>;
}

const nameAtMost = 64;
const callsAtMost = 32;
const answerAtMost = 50_000;

/** All actions of the agent's skills, each under a function name of its own. */
export function toolsOf(agent: Pick<AgentPlan, 'skills'>): Tool[] {
  const taken = new Set<string>();
  return agent.skills.flatMap((skill) =>
    skill.actions.map((action) => {
      const name = freeName(action.name, taken);
      taken.add(name);
      const description = [action.description || action.name, `(${skill.name})`].join(' ');
      return { offer: { name, description, fields: action.input_schema.fields }, skill, action };
    }),
  );
}

function freeName(actionName: string, taken: ReadonlySet<string>): string {
  const base = actionName.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '').slice(0, nameAtMost) || 'action';
  let name = base;
  for (let count = 2; taken.has(name); count += 1) {
    const ending = `_${count}`;
    name = base.slice(0, nameAtMost - ending.length) + ending;
  }
  return name;
}

/** Keeps a turn that asks for tools; calls that cannot be run are answered at once with what is wrong. */
export function keepToolCalls(agent: AgentPlan, at: AgentAtWork, turn: ModelTurn): { call: ToolCall; problem: string }[] {
  const seen = new Set<string>();
  const calls = turn.tool_calls.map((call, index) => {
    const id = call.id === '' || seen.has(call.id) ? `call_${at.turns}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
  at.conversation.push({ role: 'assistant', content: turn.content, tool_calls: calls });
  const refused = calls.flatMap((call, index) => {
    const problem = index < callsAtMost ? readCall(agent, call).problem : `at most ${callsAtMost} calls are run in one turn`;
    return problem === undefined ? [] : [{ call, problem }];
  });
  for (const { call, problem } of refused) answerCall(at, call.id, { error: { code: 'validation_failed', message: problem } });
  return refused;
}

/** The calls of the last turn that have no answer yet, in order. */
export function pendingCalls(agent: AgentPlan, at: AgentAtWork): PendingCall[] {
  const last = at.conversation.findLastIndex(({ role }) => role === 'assistant');
  const message: TurnMessage | undefined = at.conversation[last];
  if (message?.role !== 'assistant') return [];
  const answered = new Set(at.conversation.slice(last + 1).map((told) => (told.role === 'tool' ? told.tool_call_id : '')));
  return message.tool_calls.flatMap((call, index) => {
    const { tool, values } = readCall(agent, call);
    return tool && values && !answered.has(call.id) ? [{ id: call.id, index, tool, arguments: values }] : [];
  });
}

export function answerCall(at: AgentAtWork, callId: string, answer: unknown): void {
  const text = JSON.stringify(answer) ?? 'null';
  const content = text.length > answerAtMost ? `${text.slice(0, answerAtMost)} [cut: ${text.length} characters in all]` : text;
  at.conversation.push({ role: 'tool', tool_call_id: callId, content });
}

type ReadCall = { tool: Tool; values: Record<string, unknown>; problem?: undefined } | { problem: string; tool?: undefined; values?: undefined };

function readCall(agent: AgentPlan, call: ToolCall): ReadCall {
  const tools = toolsOf(agent);
  const tool = tools.find(({ offer }) => offer.name === call.name);
  if (!tool) return { problem: `there is no tool ${JSON.stringify(call.name)}; there are: ${tools.map(({ offer }) => offer.name).join(', ') || 'none'}` };
  const values = parseObject(call.arguments);
  return values ? { tool, values } : { problem: 'the arguments are not a JSON object' };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
