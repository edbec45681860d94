import { canonicalText, isJsonObject } from '../../base/json.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import type { ActRun } from '../../../workflows/agentflow-execution/act-messages.js';
import type { SummarySource } from '../../governance/approvals/summary.js';
import type { HttpMethod } from '../../outbound/http-client.js';
import type { PreparedAction } from './call-action.js';
import { annotationsOf } from './restful-call.js';
import { withoutTrailing } from '../../base/text.js';
import { tellingFacts } from './telling-facts.js';

/** Limits the cost of conditions that compare texts with wildcards, which grows with the text. */
const maxArguments = 16_384;

/**
 * The exact act, to whose digest an approval is bound. The idempotency key names the run and the step, so that no other
 * step can use the approval. The run has its own copy of the agentflow.
 */
export function inputOfAct(request: CallActionRequest, run: ActRun, { exact }: PreparedAction) {
  const { action, connector_id, idempotency_key } = request;
  return {
    idempotency_key,
    tool: action.name,
    category: action.category,
    connector_id: connector_id ?? '',
    agentflow_id: run.agentflow_id,
    agentflow_version: run.agentflow_version,
    agent_id: run.agent_id,
    execution_id: run.execution_id,
    call: exact,
  };
}

/** What people read as the summary of the act. */
export function summaryOfAct(
  { action: { name, summary, input_schema } }: Pick<CallActionRequest, 'action'>,
  { input, host }: PreparedAction,
): SummarySource {
  const marks = input_schema.fields.flatMap(({ field_id, mark }) => (mark ? [[field_id, mark] as const] : []));
  return {
    title: name,
    template: summary,
    fields: { ...input, ...(host !== '' && { 'target host': host }) },
    marks: Object.fromEntries(marks),
  };
}

const maxFields = 100;
const maxName = 200;

/** The fields that an approver can edit, with their types: those of the action, and those that have a value. */
export function editableOf({ action }: CallActionRequest, { input }: PreparedAction): Record<string, string> {
  const { properties } = action.tool?.input_schema ?? {};
  const ofTool = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]): [string, string] => [
    name,
    isJsonObject(schema) && typeof schema.type === 'string' ? schema.type : 'any',
  ]);
  const own = action.input_schema.fields.map(({ field_id, type }): [string, string] => [field_id, type]);
  const given = Object.keys(input).map((name): [string, string] => [name, 'any']);
  const fields = [...new Map([...given, ...ofTool, ...own])].filter(([name]) => name.length <= maxName);
  return Object.fromEntries(fields.slice(0, maxFields));
}

/** In lower case and without the dot of the root, so that rules see one spelling of a host. */
export function hostFact(host: string): string {
  const lower = host.toLowerCase();
  const port = /:\d*$/.exec(lower)?.[0] ?? '';
  return `${withoutTrailing(lower.slice(0, lower.length - port.length), '.')}${port}`;
}

/** Without escapes of characters that need none (RFC 3986, 6.2.2.2), so that rules see one spelling of a path. */
export function pathFact(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}

/** The facts that differ after a redirect, which can turn another method into a GET. */
export function factsOfRedirect(to: URL, method: HttpMethod) {
  return { ...factsOfTarget(to), method, ...annotationsOf(method) };
}

function factsOfTarget({ host, pathname }: Pick<URL, 'host' | 'pathname'>) {
  const reached = hostFact(host);
  return { host: reached, hosts: reached === '' ? [] : [reached], path: pathFact(pathname) };
}

/** The facts of the act that rules can read, in addition to its input and to what they know about its run. */
export function factsOfAct(
  { action }: Pick<CallActionRequest, 'action'>,
  { host, method, path, input, annotations, facts }: PreparedAction,
) {
  const text = canonicalText(input);
  return {
    ...factsOfTarget({ host, pathname: path }),
    method,
    arguments: text.slice(0, maxArguments),
    arguments_cut: text.length > maxArguments,
    ...annotations,
    ...tellingFacts(action.input_schema.fields, input, facts?.recipients as string[] | undefined),
    ...facts,
  };
}
