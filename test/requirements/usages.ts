import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Usage } from './coverage.js';

const testNames = new Set(['test', 'pythonTest', 'it', 'xtest', 'xit', 'fit']);
const groupNames = new Set(['describe', 'xdescribe', 'fdescribe']);
const notRun = new Set(['skip', 'todo', 'failing', 'xtest', 'xit', 'xdescribe']);
const focusing = new Set(['only', 'fit', 'fdescribe']);

/** The usages in every `*.test.ts` below a folder, with paths relative to it. */
export function usagesBelow(root: string): Usage[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .flatMap((file) => usagesIn(file, readFileSync(join(root, file), 'utf8')));
}

/** Reads the `verifies(…)` calls and the focused tests of one source without running it. */
export function usagesIn(file: string, source: string): Usage[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const usages: Usage[] = [];
  const note = (node: ts.Node, kind: Usage['kind'], text = node.getText()) =>
    usages.push({ kind, text, file, line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1 });

  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      if (isVerifies(node)) {
        const kind = standing(node);
        for (const argument of node.arguments) {
          if (ts.isStringLiteralLike(argument)) note(argument, kind, argument.text);
          else note(argument, 'not-literal', node.getText());
        }
      } else if (isFocused(node)) note(node, 'focused', node.expression.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return usages;
}

function isVerifies(node: ts.Node): boolean {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'verifies';
}

/** Whether a `verifies` call counts: a first statement of a test's callback, under nothing that is skipped. */
function standing(call: ts.CallExpression): 'verified' | 'skipped' | 'misplaced' {
  const registration = registrationAround(call);
  if (registration === undefined || !testNames.has(registration[0] ?? '')) return 'misplaced';
  for (let node: ts.Node = call.parent; !ts.isSourceFile(node); node = node.parent)
    if (ts.isCallExpression(node) && runnerNames(node)?.some((name) => notRun.has(name))) return 'skipped';
  return 'verified';
}

/** The names in `test.each(…)('…', () => { verifies(…) })`, when the call is a leading statement of that callback. */
function registrationAround(call: ts.CallExpression): string[] | undefined {
  const statement = call.parent;
  const body = statement.parent;
  if (!ts.isExpressionStatement(statement) || !ts.isBlock(body)) return undefined;
  const before = body.statements.slice(0, body.statements.indexOf(statement));
  const callback = body.parent;
  if (!ts.isArrowFunction(callback) && !ts.isFunctionExpression(callback)) return undefined;
  const leads = before.every((each) => ts.isExpressionStatement(each) && isVerifies(each.expression));
  return leads && ts.isCallExpression(callback.parent) ? runnerNames(callback.parent) : undefined;
}

function isFocused(call: ts.CallExpression): boolean {
  const registers = !ts.isCallExpression(call.parent) || call.parent.expression !== call;
  return registers && (runnerNames(call)?.some((name) => focusing.has(name)) ?? false);
}

/** `['test', 'skip', 'each']` for a call of `test.skip.each(…)`; undefined when no jest runner is called. */
function runnerNames(call: ts.CallExpression): string[] | undefined {
  const names = calledNames(call.expression);
  const runner = names[0] ?? '';
  return testNames.has(runner) || groupNames.has(runner) ? names : undefined;
}

function calledNames(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...calledNames(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return calledNames(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return calledNames(callee.tag);
  return [];
}
