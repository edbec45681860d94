import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { packageRoot } from '../../src/package-root.js';
import { apiClient } from '../support/client.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { python, requirePython } from './python.js';

type Fields = Record<string, string[]>;

/** Schemas of the OpenAPI document and the clients' names for them; the Python client gives some as arguments instead. */
const both: Record<string, string> = {
  ConnectionInfo: 'ConnectionInfo',
  ContextAnswer: 'ContextAnswer',
  SaveAnswer: 'SavedContext',
  DocsAnswer: 'Docs',
  OntologyState: 'OntologyState',
  ModelSettings: 'ModelSettings',
  Lifecycle: 'Lifecycle',
  Approval: 'Approval',
  ApprovalWithToken: 'ApprovalWithToken',
  AuditEntry: 'AuditEntry',
  AuditCheckpoint: 'AuditCheckpoint',
  AuditVerification: 'AuditVerification',
  PolicyDecision: 'PolicyDecision',
  SchemaField: 'SchemaField',
  NewAction: 'NewAction',
  Action: 'Action',
  NewSkill: 'NewSkill',
  Skill: 'Skill',
  NewAgent: 'NewAgent',
  Agent: 'Agent',
  NewAgentflow: 'NewAgentflow',
  AgentflowPatch: 'AgentflowChanges',
  Agentflow: 'Agentflow',
  Promotion: 'Promotion',
  NewPreviewDecision: 'PreviewDecision',
  Preview: 'Preview',
  Execution: 'Execution',
  ExecutionMonitoring: 'Monitoring',
  ExecutionEvent: 'ExecutionEvent',
  ModelDeltaEvent: 'ModelDelta',
  NewSchedule: 'NewSchedule',
  SchedulePatch: 'ScheduleChanges',
  Schedule: 'Schedule',
  ScheduleRuns: 'ScheduleRuns',
  NewColumn: 'NewColumn',
  Column: 'Column',
  Table: 'Table',
  File: 'StoredFile',
};
const nodeOnly: Record<string, string> = {
  QueryContextCall: 'ContextQuery',
  SaveContextCall: 'ContextToSave',
  CatalogIngestCall: 'CatalogToIngest',
  RunAgentInputCall: 'AgentRun',
  NewExecution: 'NewExecution',
};
/** The clients know the project and the execution of a call, and have a method of its own for a dry run. */
const known = new Set(['projectID', 'execution_id', 'dry_run']);
/** What the gateway adds to the answer of every governed call. */
const governed = 'lifecycle_id';

let schemas: Record<string, { properties?: object }>;
beforeAll(async () => {
  await requirePython();
  schemas = (await apiClient(testRun().url).get('/openapi.json')).body.components.schemas;
});

describe('the types of the clients', () => {
  test('in Node have the fields of the API reference', () => {
    verifies('sdk.node');
    expectFieldsOf({ ...both, ...nodeOnly }, nodeFields());
  });

  test('in Python have the fields of the API reference', async () => {
    verifies('sdk.python');
    expectFieldsOf(both, await pythonFields());
  });
});

function expectFieldsOf(names: Record<string, string>, found: Fields): void {
  for (const [schema, type] of Object.entries(names)) {
    const promised = Object.keys(schemas[schema]?.properties ?? {});
    const isRequest = /^New|Patch$/.test(schema) || schema in nodeOnly;
    const own = found[type] ?? [];
    const missing = promised.filter((field) => !own.includes(field) && field !== governed && !(isRequest && known.has(field)));
    const unknown = own.filter((field) => !promised.includes(field) && field !== governed);
    expect({ type, missing, unknown, isEmpty: promised.length === 0 }).toEqual({ type, missing: [], unknown: [], isEmpty: false });
  }
}

/** The fields of every type that the package exports, as the compiler sees them. */
function nodeFields(): Fields {
  const index = path.join(packageRoot, 'sdk/node/src/index.ts');
  // Names are all that is asked for, so the smallest library will do.
  const options = { strict: true, module: ts.ModuleKind.NodeNext, types: [], lib: ['lib.es5.d.ts'] };
  const program = ts.createProgram([index], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(index);
  const exports = source ? checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol) : [];
  const types = exports.map((each) => (each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each));
  return Object.fromEntries(types.map((type) => [type.name, checker.getDeclaredTypeOfSymbol(type).getProperties().map(({ name }) => name)]));
}

async function pythonFields(): Promise<Fields> {
  const modules = ['gateway_types', 'governance_types', 'agentflow_types', 'execution_types', 'platform_types', '_connection'];
  const program = `
import importlib, json
types = {}
for name in ${JSON.stringify(modules)}:
    for type in vars(importlib.import_module("governed_context_service." + name)).values():
        if hasattr(type, "__total__"):
            types[type.__name__] = list(type.__annotations__)
print(json.dumps(types))`;
  return JSON.parse((await python(['-c', program])).stdout) as Fields;
}
