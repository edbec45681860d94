import tseslint from 'typescript-eslint';

const sandboxed = [
  {
    regex: '^(node:|@temporalio/(activity|client|worker|testing)|(fs|path|os|http|crypto)$)',
    message: 'A workflow is sandboxed.',
  },
  { regex: '^(\\.\\./)+src/', message: 'A workflow never imports src.' },
];

const exportRules = [
  { selector: 'ExportAllDeclaration', message: 'Name what you export.' },
  { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
];
const sharedModuleRules = ['Program', 'Program > ExportNamedDeclaration'].map((place) => ({
  selector: `${place} > VariableDeclaration[kind!="const"]`,
  message: 'All runs of a worker share the module, so it keeps no state.',
}));

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules/**',
      '.data/**',
      'coverage/**',
      'stack/**/*.mjs',
      'workflows/*.cjs',
      'sdk/**/*.mjs',
      // They run with packages that are not installed here.
      'bench/peers/apps/**',
      '.dependency-cruiser.cjs',
      // Generated.
      'sdk/node/src/{methods,openapi,operations}.ts',
      '.ci/**',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.js'] }, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...exportRules],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
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
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config.ts is given the environment.' },
        { object: 'AbortSignal', property: 'any', message: 'Node.js may never free it: use abortWith.' },
      ],
    },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: sandboxed }],
      'no-restricted-syntax': ['error', ...exportRules, ...sharedModuleRules],
    },
  },
  { files: ['stack/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts', 'src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines': ['error', 500],
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    files: ['test/support/{global-*,environment,native-modules,sequencer}.ts', '*.js'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['console/src/**/*.tsx'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...exportRules,
        { selector: "JSXAttribute[name.name='className'] > Literal", message: 'Use a class of a style module.' },
        {
          selector:
            "JSXOpeningElement[name.name=/^(ul|ol|li|table)$/] > JSXAttribute[name.name='role'][value.value=/^(alert|status)$/]",
          message: 'The role replaces that of the list: put the list into an element with the role.',
        },
      ],
    },
  },
  {
    files: ['console/src/**/*.{ts,tsx}'],
    ignores: ['console/src/kept.ts', 'console/src/use-pages.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@tanstack/react-query',
              importNames: ['useInfiniteQuery'],
              message: 'usePages keeps saying why an older page could not be read.',
            },
          ],
        },
      ],
      'no-restricted-globals': [
        'error',
        ...['localStorage', 'sessionStorage'].map((name) => ({
          name,
          message: 'A browser can refuse its storage: use kept.ts.',
        })),
      ],
    },
  },
  { files: ['*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
