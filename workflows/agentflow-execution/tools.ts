import type { ActionPlan, AgentPlan, SkillPlan } from './messages.js';
import type { CurrentAgent } from './path-state.js';
import { hasOwnValue, type SchemaField } from './schema-field.js';
import type { ModelTurn, ToolCall, TurnMessage } from './model-turn.js';

/** An action as it is offered to the model. */
export interface ToolOffer {
  /** Unique within the turn, with the characters of function names: 1 to 64 of A-Z a-z 0-9 _ -. */
  name: string;
  description: string;
  fields: SchemaField[];
  /** The JSON Schema of the arguments, instead of `fields`. */
  input_schema?: Record<string, unknown>;
}

interface Tool {
  offer: ToolOffer;
  skill: SkillPlan;
  action: ActionPlan;
}

/** A call that can be run: its position among the calls of its turn, and the action that it calls. */
export interface PendingCall {
  id: string;
  index: number;
  skill: SkillPlan;
  action: ActionPlan;
  arguments: Record<string, unknown>;
}

const maxNameLength = 64;
const maxCallsPerTurn = 32;
const maxAnswerLength = 50_000;

/** All actions of the agent's skills, each with its own function name. */
export function toolsOf(agent: Pick<AgentPlan, 'skills'>): Tool[] {
  const taken = new Set<string>();
  return agent.skills.flatMap((skill) =>
    skill.actions.map((action) => {
      const name = uniqueName(action.name, taken);
      taken.add(name);
      const description = [action.description || action.name, `(${skill.name})`].join(' ');
      return { offer: { name, description, ...inputOffered(action) }, skill, action };
    }),
  );
}

/** Without the fields whose values the author of the action gives. */
function inputOffered({ input_schema, tool: own, agentflow }: ActionPlan): Pick<ToolOffer, 'fields' | 'input_schema'> {
  const tool = own ?? agentflow;
  const fields = input_schema.fields.filter((field) => !hasOwnValue(field));
  if (!tool || fields.length === input_schema.fields.length)
    return { fields, ...(tool && { input_schema: tool.input_schema }) };
  const given = new Set(input_schema.fields.filter(hasOwnValue).map(({ field_id }) => field_id));
  const { properties, required, ...rest } = tool.input_schema;
  const asked = Object.entries(typeof properties === 'object' && properties !== null ? properties : {});
  return {
    fields,
    input_schema: {
      ...rest,
      properties: Object.fromEntries(asked.filter(([name]) => !given.has(name))),
      ...(Array.isArray(required) && { required: required.filter((name) => !given.has(String(name))) }),
    },
  };
}

/** The name of an action for models, unless another action of the agent has it. */
export function functionName(actionName: string): string {
  const allowed = actionName.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+/, '');
  let end = allowed.length;
  while (allowed[end - 1] === '_') end -= 1;
  return allowed.slice(0, Math.min(end, maxNameLength)) || 'action';
}

function uniqueName(actionName: string, taken: ReadonlySet<string>): string {
  const base = functionName(actionName);
  let name = base;
  for (let count = 2; taken.has(name); count += 1) {
    const ending = `_${count}`;
    name = base.slice(0, maxNameLength - ending.length) + ending;
  }
  return name;
}

/** Adds a turn with tool calls to the conversation. A call that cannot be run is answered at once with the reason. */
export function keepToolCalls(
  agent: AgentPlan,
  current: CurrentAgent,
  turn: ModelTurn,
): { call: ToolCall; problem: string }[] {
  const seen = new Set<string>();
  const calls = turn.tool_calls.map((call, index) => {
    const id = call.id === '' || seen.has(call.id) ? `call_${current.turns}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
  const echo = turn.echo && { echo: turn.echo };
  current.conversation.push({ role: 'assistant', content: turn.content, tool_calls: calls, ...echo });
  const refused = calls.flatMap((call, index) => {
    const problem =
      index < maxCallsPerTurn ? readCall(agent, call).problem : `at most ${maxCallsPerTurn} calls are run in one turn`;
    return problem === undefined ? [] : [{ call, problem }];
  });
  for (const { call, problem } of refused)
    answerCall(current, call.id, { error: { code: 'validation_failed', message: problem } });
  return refused;
}

/** The calls of the last turn that have no answer yet, in order. */
export function pendingCalls(agent: AgentPlan, current: CurrentAgent): PendingCall[] {
  const answers = answersOf(current);
  const answered = new Set(answers.map((message) => (message.role === 'tool' ? message.tool_call_id : '')));
  return callsOf(agent, current).filter(({ id }) => !answered.has(id));
}

/** What follows the last turn of the model. */
function answersOf({ conversation }: CurrentAgent): TurnMessage[] {
  return conversation.slice(conversation.findLastIndex(({ role }) => role === 'assistant') + 1);
}

/** The calls of the last turn that can be run, in order. */
function callsOf(agent: AgentPlan, { conversation }: CurrentAgent): PendingCall[] {
  const turn = conversation.findLast(({ role }) => role === 'assistant');
  if (turn?.role !== 'assistant') return [];
  return turn.tool_calls.slice(0, maxCallsPerTurn).flatMap((call, index) => {
    const { tool, values } = readCall(agent, call);
    if (!tool || !values) return [];
    return [{ id: call.id, index, skill: tool.skill, action: tool.action, arguments: values }];
  });
}

/** Whether the calls of the last turn are several, and change nothing. Then their order has no effect. */
export function areReads(agent: AgentPlan, current: CurrentAgent): boolean {
  const calls = callsOf(agent, current);
  return calls.length > 1 && calls.every(({ action }) => isRead(action));
}

/** Only where the method says what is sent: other categories of actions have operations of their own. */
function isRead({ category, method, tool }: ActionPlan): boolean {
  if (category === 'mcp') return tool?.read_only === true;
  return category === 'restful' && method.toUpperCase() === 'GET';
}

/** Puts the answers to calls that ran at once into the order of the calls. */
export function sortAnswers(agent: AgentPlan, current: CurrentAgent): void {
  const order = callsOf(agent, current).map(({ id }) => id);
  const answers = answersOf(current);
  const positionOf = (message: TurnMessage) => (message.role === 'tool' ? order.indexOf(message.tool_call_id) : -1);
  const sorted = answers.toSorted((a, b) => positionOf(a) - positionOf(b));
  current.conversation.splice(current.conversation.length - answers.length, answers.length, ...sorted);
}

export function answerCall(current: CurrentAgent, callId: string, answer: unknown): void {
  const text = JSON.stringify(answer) ?? 'null';
  const content =
    text.length > maxAnswerLength ? `${text.slice(0, maxAnswerLength)} [cut: ${text.length} characters in all]` : text;
  current.conversation.push({ role: 'tool', tool_call_id: callId, content });
}

type ReadCall =
  | { tool: Tool; values: Record<string, unknown>; problem?: undefined }
  | { problem: string; tool?: undefined; values?: undefined };

function readCall(agent: AgentPlan, call: ToolCall): ReadCall {
  const tools = toolsOf(agent);
  const tool = tools.find(({ offer }) => offer.name === call.name);
  if (!tool) {
    const names = tools.map(({ offer }) => offer.name).join(', ') || 'none';
    return { problem: `the tool ${JSON.stringify(call.name)} does not exist; available tools: ${names}` };
  }
  if (call.problem !== undefined) return { problem: call.problem };
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
