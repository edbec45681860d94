const { readdirSync } = require('node:fs');

/**
 * Imports go down: surfaces and activities → domain → governance → auth → foundations (docs/architecture.md).
 * `npm run lint` checks the real import graph, types included.
 */
const ground =
  '^src/(config|errors|error-catalog|ids|json|json-gate|log|package-root|pick|problems|random|sha256|time|within|client-packages)[.]ts$';
const foundations = 'graph|http|models|observability|outbound|prompts|stores|temporal|threads';
const packages = 'node_modules|^dist/cypher-grammar/|^node:|^[a-z_/]+$';

/** What each room may import, next to itself, packages and the ground. */
const floors = [
  ['workflows', '^workflows/', []],
  [
    'ground',
    ground,
    ['^src/(models|observability|outbound|stores|temporal)/environment[.]ts$', '^src/observability/tracing[.]ts$'],
  ],
  ['stores', '^src/stores/', []],
  ['outbound, prompts', '^src/(outbound|prompts)/', []],
  ['models', '^src/models/', ['^src/outbound/']],
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
  ['console app', '^src/surfaces/console/app/', ['^sdk/node/src/']],
  ['surfaces', '^src/surfaces/(?!console/app/)', [`^src/(domain|governance|auth|${foundations})/`, '^workflows/']],
];

/** A room that other rooms use is listed, after the rooms that it uses itself. */
const usedRooms = [
  ...['governance', 'customers', 'memories', 'connectors', 'agentflows', 'mcp-servers', 'actions', 'files'],
  ...['executions', 'approvals', 'tables', 'schedules', 'projects', 'workspace', 'tasks'],
];

/**
 * The folders of the domain in order: a room uses only rooms before it, so that the rooms form no cycle. A room that is
 * not listed may use all of them; the tools may use every room.
 */
const rooms = [
  ...usedRooms,
  ...readdirSync('src/domain', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'tools' && !usedRooms.includes(entry.name))
    .map(({ name }) => name),
  'tools',
];

/** What a room offers other rooms: what can be done, what is stored, and what must hold (decision 0082). */
const offered = '^src/domain/[^/]+/(operations|record|rules)([.]ts$|/)';

/** A surface imports no other surface; all of them share the route machinery and the browser's pages and sessions. */
const surfaces = ['callbacks', 'console', 'gateway', 'mcp', 'oauth', 'operation', 'platform', 'rest', 'browser'];

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: { pathNot: '^src/graph/guard/' }, to: { circular: true } },
    { name: 'no-unknown-package', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...floors.map(([name, from, below]) => ({
      name: `${name}-imports-downwards`,
      severity: 'error',
      from: { path: from },
      to: {
        pathNot: [from, ...(name === 'workflows' || name === 'console app' ? [] : [ground]), ...below, packages].join(
          '|',
        ),
      },
    })),
    {
      name: 'foundations-import-no-configuration',
      severity: 'error',
      from: { path: `^src/(${foundations})/` },
      to: { path: '^src/config[.]ts$' },
    },
    {
      name: 'rooms-use-what-other-rooms-offer',
      severity: 'error',
      from: { path: '^src/domain/([^/]+)/' },
      to: { path: '^src/domain/[^/]+/', pathNot: ['^src/domain/$1/', offered] },
    },
    ...rooms.map((room, at) => ({
      name: `${room}-uses-only-rooms-before-it`,
      severity: 'error',
      from: { path: `^src/domain/${room}/` },
      to: { path: '^src/domain/[^/]+/', pathNot: `^src/domain/(${rooms.slice(0, at + 1).join('|')})/` },
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
      name: 'no-server-code-imports-the-console-app',
      severity: 'error',
      from: { pathNot: '^src/surfaces/console/app/' },
      to: { path: '^src/surfaces/console/app/' },
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
