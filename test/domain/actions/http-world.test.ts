import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { connectorOf } from '../../support/connectors.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import {
  beginStream,
  chunk,
  endStream,
  send,
  startFakeModel,
  streamText,
  type FakeModel,
} from '../../support/fake-model.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { startHttpSink, type HttpSink, type SinkRequest } from '../../support/http-sink.js';
import { ownProduct } from '../../support/own-product.js';
import { verifies } from '../../support/verifies.js';
import { expectSources, readWorld } from '../../support/world.js';

/** How a server answers. `zeros` is the length of a JSON text of zeros. */
interface Answer {
  status?: number;
  headers?: Record<string, string>;
  text?: string;
  base64?: string;
  zeros?: number;
  encode?: keyof typeof encoders;
}

/** A request as a server must receive it. Null stands for a header that is not sent. `parts` are of a multipart body. */
interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | null>;
  json?: unknown;
  form?: Record<string, string>;
  text?: string;
  parts?: string[];
}

/** What a public source reports, and what the product makes of it. `{url}`, `{other}` and `{case}` are replaced. */
interface Case {
  name: string;
  source: string;
  connector?: { auth: object };
  actions?: ({ method: string; path: string; fields: object[] } & Record<string, unknown>)[];
  /** What the model calls the first action with. Otherwise the actions are prescribed. */
  tool?: string;
  /** What an agent before this one writes. */
  draft?: string;
  prompt?: string;
  pre?: object;
  inputs?: object;
  rows?: number;
  answers?: Record<string, Answer>;
  outcome: {
    outputs?: unknown[];
    prompt?: string;
    failure?: string;
    sent?: Sent[];
    other?: Sent[];
    /** The names of the parameters of the tool. */
    offered?: string[];
    file?: string;
  };
}

const world = readWorld<Case>('http');
const cases = world.cases.map((each) => ({
  ...each,
  id: `${each.file}-${each.at}`,
  title: `${each.file}: ${each.name}`,
}));

const encoders = {
  gzip: promisify(zlib.gzip),
  deflate: promisify(zlib.deflate),
  'deflate-raw': promisify(zlib.deflateRaw),
  br: promisify(zlib.brotliCompress),
} as const;

const deps = useDeps();
const overrides: Record<string, string> = { LLM_API_KEY: 'key' };
const product = ownProduct(overrides);
let model: FakeModel;
let sink: HttpSink;
let other: HttpSink;
let through: (workspace: Workspace) => Workspace;

beforeAll(async () => {
  [model, sink, other] = await Promise.all([startFakeModel(), startHttpSink(), startHttpSink()]);
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  through = (workspace) => product.through(api, workspace);
});
afterAll(() => Promise.all([model.close(), sink.close(), other.close()]));

test('there are cases of many kinds, each with its public source', () => {
  verifies('action.restful.world');
  expectSources(world, cases, { files: 7, cases: 110 });
});

test.concurrent.each(cases)('$title', async (each) => {
  verifies('action.restful.world');
  const { id, outcome, answers = {} } = each;
  const fill = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll('{url}', `${sink.url}/${id}`)
        .replaceAll('{other}', `${other.url}/${id}`)
        .replaceAll('{case}', id),
    ) as T;
  for (const [path, answer] of Object.entries(fill(answers))) await play(`/${id}${path}`, answer);
  const member = through(await createWorkspace(deps));
  const connector =
    each.connector &&
    (await connectorOf(member, 'restful', { ...fill(each.connector), base_url: `${sink.url}/${id}` }));
  model.on(id, (res, { body }, attempt) => {
    if (each.draft !== undefined && attempt === 1) return streamText(res, [each.draft]);
    const isAnswered = body.messages.some(({ role }: { role: string }) => role === 'tool');
    if (each.tool === undefined || isAnswered) return streamText(res, ['done']);
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'call_0', arguments: each.tool } };
    beginStream(res);
    send(res, chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls'));
    endStream(res);
  });
  const rows = Array.from({ length: each.rows ?? 0 }, (_, at) => ({ id: at, name: `row ${at}` }));
  const run = await startExecution(member, flowOf(each, connector?._id ?? null), {
    input_variables: { ...each.inputs, ...(rows.length > 0 && { rows }) },
  });
  const ended = await untilExecution(member, run, outcome.failure === undefined ? 'completed' : 'failed');
  if (outcome.failure !== undefined) expect(ended.execution_context.failure.message).toContain(outcome.failure);
  const outputs = (ended.agents_output.at(-1)?.actions ?? []).map(({ output }: { output: unknown }) => output);
  for (const [at, expected] of (outcome.outputs ?? []).entries())
    if (typeof expected === 'object' && expected !== null && !Array.isArray(expected))
      expect(outputs[at]).toMatchObject(expected);
    else expect(outputs[at]).toEqual(expected);
  if (outcome.file !== undefined) {
    const { body } = await member.api.get(`/file/${member.projectID}/${outputs[0].file_id}`);
    const content = await fetch(body.url);
    expect(Buffer.from(await content.arrayBuffer()).toString('base64')).toBe(outcome.file);
  }
  const asked = model.asked(id).map(({ body }) => body);
  if (outcome.prompt !== undefined) expect(asked.at(-1).messages[1].content).toContain(outcome.prompt);
  if (outcome.offered) expect(Object.keys(asked[0].tools[0].function.parameters.properties)).toEqual(outcome.offered);
  check(sink.seen(`/${id}/`), outcome.sent, id);
  check(other.seen(`/${id}/`), outcome.other, id);
});

async function play(path: string, { status = 200, headers, text = '', base64, zeros, encode }: Answer): Promise<void> {
  const plain = base64 === undefined ? Buffer.from(zeros === undefined ? text : `"${'0'.repeat(zeros)}"`) : undefined;
  const body = plain ?? Buffer.from(base64 ?? '', 'base64');
  const sent = encode ? await encoders[encode](body) : body;
  const encoding = encode && { 'content-encoding': encode === 'deflate-raw' ? 'deflate' : encode };
  sink.answer(path, (_, res) => void res.writeHead(status, { ...headers, ...encoding }).end(sent));
}

function flowOf(
  { id, actions = [], tool, draft, prompt = 'Tell.', pre }: (typeof cases)[number],
  connector_id: string | null,
) {
  const linked = actions.map(({ path, fields, ...action }, at) => ({
    ...action,
    ...{ _id: `call_${at}`, name: `call_${at}`, input_schema: { fields } },
    endpoint: connector_id === null ? `${sink.url}/${id}${path}` : path,
    next_action_id: at + 1 < actions.length ? `call_${at + 1}` : null,
  }));
  const skill = {
    ...{ _id: 'skill_1', name: 'Calls', connector_id, actions: linked },
    initial_action_id: tool === undefined ? 'call_0' : null,
  };
  const agent = { _id: 'agent', title: 'Agent', llm: { model: id } };
  const writer = { ...agent, _id: 'writer', prompt: { template: 'Write.' }, next_agent: 'agent' };
  return {
    name: 'Flow',
    agents: [
      ...(draft === undefined ? [] : [writer]),
      {
        ...agent,
        prompt: { template: prompt },
        skills: linked.length > 0 ? [skill] : [],
        ...(pre && { pre_and_post_execution_input: { pre } }),
      },
    ],
  };
}

function check(seen: SinkRequest[], expected: Sent[] | undefined, id: string): void {
  if (expected) expect(seen).toHaveLength(expected.length);
  for (const [at, { method, path, headers = {}, json, form, text, parts }] of (expected ?? []).entries()) {
    const request = seen[at];
    if (method !== undefined) expect(request?.method).toBe(method);
    if (path !== undefined) expect(request?.path).toBe(`/${id}${path}`);
    for (const [name, value] of Object.entries(headers)) expect(request?.headers[name] ?? null).toBe(value);
    if (json !== undefined) expect(JSON.parse(request?.body ?? '')).toEqual(json);
    if (form) expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual(form);
    if (text !== undefined) expect(request?.body).toBe(text);
    for (const part of parts ?? []) expect(request?.body).toContain(part);
    if (parts) expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  }
}
