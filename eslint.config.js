import tseslint from 'typescript-eslint';

/** For each folder the others of the product that it may import; imports point one way (docs/conventions.md). */
const mayImport = {
  workflows: [],
  activities: ['observability', 'workflows', 'models', 'outbound', 'stores', 'auth', 'governance', 'graph', 'temporal', 'connectors', 'customers', 'callbacks', 'platform', 'files', 'gateway', 'prompts'],
  'src/prompts': [],
  'src/models': ['outbound'],
  'src/outbound': [],
  'src/stores': [],
  'src/temporal': ['stores', 'workflows'],
  'src/auth': ['http', 'stores'],
  'src/observability': ['stores', 'workflows'],
  'src/http': ['auth', 'stores', 'observability'],
  'src/oauth': ['auth', 'http', 'stores', 'outbound'],
  'src/governance': ['auth', 'http', 'stores', 'temporal', 'workflows'],
  'src/graph': ['auth', 'stores'],
  'src/operation': ['http', 'observability'],
  'src/files': ['auth', 'http', 'stores', 'customers'],
  'src/connectors': ['auth', 'stores', 'temporal', 'workflows'],
  'src/customers': ['stores'],
  'src/platform': ['auth', 'http', 'stores', 'temporal', 'workflows', 'models', 'outbound', 'governance', 'connectors', 'customers', 'files', 'prompts'],
  'src/gateway': ['observability', 'auth', 'http', 'stores', 'temporal', 'workflows', 'governance', 'graph'],
  'src/console': ['auth', 'http', 'stores', 'governance', 'temporal', 'workflows', 'customers'],
  'src/callbacks': ['observability', 'auth', 'http', 'stores', 'temporal', 'workflows', 'outbound', 'governance', 'graph', 'connectors'],
  'sdk/node': [],
};
const folders = [...Object.keys(mayImport), 'stack', 'test', 'bench'].map((folder) => folder.replace('src/', ''));
/** Type-only: the collection table names the document types of every folder. */
const typesOnly = ['src/stores'];

const sandboxed = [
  { regex: '^(node:|@temporalio/(activity|client|worker|testing)|(fs|path|os|http|crypto)$)', message: 'A workflow is sandboxed.' },
  { regex: '^(\\.\\./)+src/', message: 'A workflow never imports src.' },
];

const boundaries = Object.entries(mayImport).map(([folder, allowed]) => {
  const own = folder.replace('src/', '');
  const forbidden = folders.filter((other) => other !== own && !allowed.includes(other));
  return {
    files: [`${folder}/**/*.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(src/)?(${forbidden.join('|')})/`,
              allowTypeImports: typesOnly.includes(folder),
              message: `${folder} imports only: ${allowed.join(', ') || 'itself'}.`,
            },
            ...(folder === 'workflows' ? sandboxed : []),
          ],
        },
      ],
    },
  };
});

export default tseslint.config(
  { ignores: ['**/dist/**', 'node_modules/**', '.data/**', 'coverage/**', 'stack/**/*.mjs', '.ci/**'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['*.js'] }, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'Name what you export.' },
        { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/require-await': 'off',
      // Our objects are made of closures, not of classes, so a method can be taken from them.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/worker.ts', 'src/cli/**'],
    rules: {
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'Only src/config.ts is given the environment.' }],
    },
  },
  ...boundaries,
  { files: ['stack/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts', 'src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  { files: ['test/support/global-*.ts', '*.js'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
