const { readdirSync } = require('node:fs');

/**
 * Imports go down: surfaces and activities → domain → governance → auth → foundations (docs/architecture.md).
 * `npm run lint` checks the real import graph, types included.
 */
const ground = '^src/(base/|(config|log)[.]ts$)';
const foundations = 'graph|http|models|observability|outbound|prompts|stores|temporal|threads';
const packages = 'node_modules|^dist/cypher-grammar/|^node:|^[a-z_/]+$';

/** What each part may import, in addition to itself, packages and the ground. */
const floors = [
  ['workflows', '^workflows/', []],
  [
    'ground',
    ground,
    ['^src/(models|observability|outbound|stores|temporal)/environment[.]ts$', '^src/observability/tracing[.]ts$'],
  ],
  ['stores', '^src/stores/', []],
  ['outbound, prompts', '^src/(outbound|prompts)/', []],
  ['models', '^src/models/', ['^src/outbound/', '^src/graph/redaction/']],
  ['observability', '^src/observability/', ['^src/stores/', '^workflows/']],
  ['temporal', '^src/temporal/', ['^src/stores/', '^workflows/']],
  ['http', '^src/http/', ['^src/(stores|observability)/']],
  ['graph', '^src/graph/', ['^src/stores/']],
  ['threads', '^src/threads/', ['^src/(graph|outbound)/']],
  ['auth', '^src/auth/', [`^src/(${foundations})/`]],
  ['governance', '^src/governance/', [`^src/(auth|${foundations})/`, '^workflows/']],
  ['domain', '^src/domain/', [`^src/(governance|auth|${foundations})/`, '^workflows/']],
  ['activities', '^activities/', [`^src/(domain|governance|auth|${foundations})/`, '^workflows/']],
  // It runs in browsers, and knows the API by the generated client.
  [
    'console',
    '^console/',
    [
      ...['^sdk/node/src/', '^src/surfaces/console/console-pages[.]ts$', '^src/base/(csv|encodings|text)[.]ts$'],
      '^src/domain/connectors/rules/named-operations[.]ts$',
    ],
  ],
  ['surfaces', '^src/surfaces/', [`^src/(domain|governance|auth|${foundations})/`, '^workflows/']],
];

/** A folder of the domain that others use is listed, after the folders that it uses itself. */
const usedFolders = [
  ...[
    'governance',
    'customers',
    'memories',
    'connectors',
    'tables',
    'agentflows',
    'mcp-servers',
    'releases',
    'actions',
  ],
  ...['files', 'executions', 'approvals', 'schedules', 'projects', 'workspace', 'tasks', 'members'],
];

/**
 * The folders of the domain in order: a folder uses only folders before it, so they form no cycle. A folder that is not
 * listed may use all of them; the tools may use every folder.
 */
const domainFolders = [
  ...usedFolders,
  ...readdirSync('src/domain', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'tools' && !usedFolders.includes(entry.name))
    .map(({ name }) => name),
  'tools',
];

/** The files of a folder of the domain that other folders may import (docs/decisions/0001). */
const publicFiles = '^src/domain/[^/]+/(operations|record|rules)([.]ts$|/)';

/** A surface imports no other surface; all of them share the route machinery and the browser's pages and sessions. */
const surfaces = ['callbacks', 'console', 'gateway', 'mcp', 'oauth', 'operation', 'platform', 'rest', 'browser'];

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: { pathNot: '^src/graph/guard/' }, to: { circular: true } },
    {
      name: 'no-unknown-package',
      severity: 'error',
      // They run with packages that are not installed here.
      from: { pathNot: '^bench/peers/apps/' },
      to: { couldNotResolve: true },
    },
    ...floors.map(([name, from, below]) => ({
      name: `${name}-imports-downwards`,
      severity: 'error',
      from: { path: from },
      to: {
        pathNot: [from, ...(name === 'workflows' || name === 'console' ? [] : [ground]), ...below, packages].join('|'),
      },
    })),
    {
      name: 'foundations-import-no-configuration',
      severity: 'error',
      from: { path: `^src/(${foundations})/` },
      to: { path: '^src/config[.]ts$' },
    },
    {
      name: 'domain-folders-use-only-public-files',
      severity: 'error',
      from: { path: '^src/domain/([^/]+)/' },
      to: { path: '^src/domain/[^/]+/', pathNot: ['^src/domain/$1/', publicFiles] },
    },
    ...domainFolders.map((folder, at) => ({
      name: `${folder}-uses-only-folders-before-it`,
      severity: 'error',
      from: { path: `^src/domain/${folder}/` },
      to: { path: '^src/domain/[^/]+/', pathNot: `^src/domain/(${domainFolders.slice(0, at + 1).join('|')})/` },
    })),
    {
      name: 'rules-are-pure',
      severity: 'error',
      from: { path: '^src/domain/[^/]+/rules([.]ts$|/)' },
      to: {
        path: `^src/(stores|temporal|http|outbound|models|threads)/|^src/domain/(deps|operation)[.]ts$|/operations([.]ts$|/)|^node:`,
        pathNot: '^src/governance/',
      },
    },
    {
      name: 'no-server-code-imports-the-console',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    ...surfaces.map((name) => ({
      name: `${name}-imports-no-other-surface`,
      severity: 'error',
      from: { path: `^src/surfaces/${name}/` },
      to: { path: '^src/surfaces/', pathNot: `^src/surfaces/(${name}|rest|browser)/` },
    })),
    {
      name: 'only-activities-know-their-temporal-context',
      severity: 'error',
      from: { pathNot: '^activities/' },
      to: { path: '@temporalio/activity' },
    },
    {
      name: 'production-imports-no-test',
      severity: 'error',
      from: { path: '^(src|activities|workflows|stack)/' },
      to: { path: '^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.json'],
    },
    detectProcessBuiltinModuleCalls: true,
  },
};
