import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Client, ExecutionInput } from '../../node/src/index.js';
import { readYaml } from './folder.js';
import { exitCodes, Problem } from './problem.js';
import { canonical, isObject, type Json } from './shape.js';
import { print } from './terminal.js';

/** One run, and what is expected of it. */
interface Case {
  name: string;
  goal: string;
  input: Json;
  status: string;
  /** The output, or the texts that it contains. */
  output?: unknown;
  contains: string[];
}

interface Result {
  file: string;
  name: string;
  execution_id: string;
  /** What differs; empty if the case has passed. */
  differences: string[];
}

const extension = '.test.yaml';
/** How many runs go on at once. */
const atOnce = 5;

/**
 * Runs the drafts of agentflows with the cases of `agentflows/<flow>.test.yaml`, and compares their outputs.
 * @throws Problem if a case has failed
 */
export async function test(
  client: Client,
  root: string,
  flows: readonly string[],
  json: boolean,
  idOf: (flow: string) => Promise<string>,
): Promise<void> {
  const files = flows.length > 0 ? flows : flowsWithCases(root);
  if (files.length === 0) throw new Problem(`there is no file agentflows/<flow>${extension}; write one with \`cases\``);
  const work: { file: string; id: string; each: Case }[] = [];
  for (const file of files) {
    const cases = readCases(root, file);
    const id = await idOf(file);
    work.push(...cases.map((each) => ({ file, id, each })));
  }
  const results: Result[] = [];
  for (let at = 0; at < work.length; at += atOnce) {
    const some = work.slice(at, at + atOnce).map(async ({ file, id, each }) => runCase(client, file, id, each));
    for (const result of await Promise.all(some)) {
      results.push(result);
      if (!json) printResult(result);
    }
  }
  if (json) print(JSON.stringify({ results }));
  const failed = results.filter(({ differences }) => differences.length > 0).length;
  if (failed > 0) throw new Problem(`${failed} of ${results.length} cases failed`, exitCodes.failed);
}

function printResult({ file, name, execution_id, differences }: Result): void {
  print(`${differences.length === 0 ? 'passed' : 'failed'} ${file}: ${name}`);
  for (const each of differences) print(`  ${each}`);
  if (differences.length > 0) print(`  run ${execution_id}`);
}

function flowsWithCases(root: string): string[] {
  const folder = path.join(root, 'agentflows');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
    .sort();
}

function readCases(root: string, file: string): Case[] {
  const name = `agentflows/${file}${extension}`;
  const { cases } = readYaml(root, name, '`cases`');
  if (!Array.isArray(cases) || cases.length === 0) throw new Problem(`${name}: cases: must be a list of at least one`);
  return cases.map((each: unknown, at) => {
    const refuse = (what: string) => new Problem(`${name}: cases[${at}] ${what}`);
    if (!isObject(each)) throw refuse('must be an object with name, goal, input and expect');
    const { name: title, goal, input = {}, expect, ...others } = each;
    if (typeof title !== 'string' || title === '') throw refuse('name: must be a text');
    if (typeof goal !== 'string' || goal === '') throw refuse('goal: must be a text');
    if (!isObject(input)) throw refuse('input: must be an object with input variables');
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw refuse(`${unknown}: is unknown; a case has name, goal, input and expect`);
    if (!isObject(expect)) throw refuse('expect: must be an object with output, contains or status');
    return { name: title, goal, input, ...expectation(expect, refuse) };
  });
}

function expectation(expect: Json, refuse: (what: string) => Problem): Pick<Case, 'status' | 'contains' | 'output'> {
  const { status = 'completed', contains = [], output, ...others } = expect;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refuse(`expect.${unknown}: is unknown; use output, contains and status`);
  if (typeof status !== 'string') throw refuse('expect.status: must be a text, such as completed');
  if (!Array.isArray(contains) || !contains.every((each): each is string => typeof each === 'string'))
    throw refuse('expect.contains: must be a list of texts');
  return { status, contains, ...(output !== undefined && { output }) };
}

async function runCase({ call, platform }: Client, file: string, id: string, wanted: Case): Promise<Result> {
  const { name, goal, input } = wanted;
  const body: ExecutionInput = { agentflow_id: id, goal, input_variables: input, draft: true };
  const { execution_id } = await call('post', '/execute_flow', { query: { execute: 'true' }, body });
  const { status, conclusion } = await platform.executions.waitForEnd(execution_id);
  const output = conclusion && 'output' in conclusion ? conclusion.output : conclusion?.conclusion;
  return { file, name, execution_id, differences: differencesOf(wanted, status, output) };
}

function differencesOf(
  { status: wantedStatus, output: wantedOutput, contains }: Case,
  status: string,
  output: unknown,
) {
  const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  const isOther = wantedOutput !== undefined && canonical(output ?? null) !== canonical(wantedOutput);
  return [
    ...(status === wantedStatus ? [] : [`status: expected ${wantedStatus}, was ${status}`]),
    ...(isOther ? [`output: expected ${JSON.stringify(wantedOutput)}, was ${JSON.stringify(output ?? null)}`] : []),
    ...contains
      .filter((each) => !text.includes(each))
      .map((each) => `output: expected a text with ${JSON.stringify(each)}, was ${JSON.stringify(output ?? null)}`),
  ];
}
