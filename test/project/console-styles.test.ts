import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';

const folder = path.join(packageRoot, 'console/src');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const textOf = (file: string) => readFileSync(path.join(folder, file), 'utf8');

const modules = files.filter((file) => file.endsWith('.module.css'));
const components = files.filter((file) => file.endsWith('.tsx')).map((file) => ({ file, text: textOf(file) }));

/** The classes that a style module defines. */
function definedIn(module: string): Set<string> {
  const selectors = textOf(module)
    .replaceAll(/\/\*.*?\*\/|:global\([^)]*\)/gs, '')
    .replaceAll(/\{[^{}]*\}/g, '{}');
  return new Set([...selectors.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name));
}

/** The style modules that a component imports, each with the classes that it uses. */
function usedBy({ file, text }: (typeof components)[number]) {
  return [...text.matchAll(/import (\w+) from '(\.[^']+\.module\.css)'/g)].map(([, styles = '', from = '']) => ({
    module: path.normalize(path.join(path.dirname(file), from)),
    names: [...text.matchAll(new RegExp(`\\b${styles}\\.(\\w+)`, 'g'))].map(([, name = '']) => name),
    /** The class depends on data, for example on a state. */
    isByData: text.includes(`${styles}[`),
  }));
}

test('each class that a component of the console uses is in its style module', () => {
  const missing = components.flatMap((component) =>
    usedBy(component).flatMap(({ module, names }) =>
      names
        .filter((name) => !definedIn(module).has(name))
        .map((name) => `${component.file}: ${module} has no .${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

test('each class of a style module of the console is used', () => {
  const uses = components.flatMap(usedBy);
  const unused = modules.flatMap((module) => {
    const own = uses.filter((use) => use.module === module);
    if (own.some(({ isByData }) => isByData)) return [];
    const names = new Set(own.flatMap((use) => use.names));
    return [...definedIn(module)].filter((name) => !names.has(name)).map((name) => `${module}: .${name}`);
  });
  expect(unused).toEqual([]);
});

test('the style modules of the console have different names, because their classes are named after them', () => {
  const names = modules.map((module) => path.basename(module));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
