// Prints the regular expressions of the product that can take more than linear time, as JSON. Runs outside of Jest,
// whose modules have other globals.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { check } from 'recheck';
import ts from 'typescript';

interface Pattern {
  file: string;
  source: string;
  flags: string;
}

const root = process.argv[2] ?? '.';
const folders = ['src', 'workflows', 'activities', 'stack', 'sdk/node/src'];
const seconds = 60;

const files = folders
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  )
  .filter((file) => /\.tsx?$/.test(file));

function literalsIn(file: string): Pattern[] {
  const kind = file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const tree = ts.createSourceFile(
    file,
    readFileSync(path.join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    kind,
  );
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Imports the modules that compose regular expressions, and collects what they construct while they load. */
async function constructedIn(composing: readonly string[]): Promise<Pattern[]> {
  const found: Pattern[] = [];
  const original = globalThis.RegExp;
  let loading = '';
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags = '']: [string | RegExp, string?]) {
      // Not those of the packages that the module imports.
      const caller = new Error().stack?.split('\n')[2] ?? '';
      if (typeof source === 'string' && caller.includes('/dist/src/')) found.push({ file: loading, source, flags });
      return new target(source, flags);
    },
  });
  for (const file of composing) {
    loading = file;
    await import(pathToFileURL(path.join(root, 'dist', file.replace(/\.ts$/, '.js'))).href);
  }
  globalThis.RegExp = original;
  return found;
}

const composing = files.filter(
  (file) =>
    file.startsWith('src/graph/redaction') && readFileSync(path.join(root, file), 'utf8').includes('new RegExp('),
);
const patterns = [...files.flatMap(literalsIn), ...(await constructedIn(composing))];
const different = [...new Map(patterns.map((pattern) => [`${pattern.source}/${pattern.flags}`, pattern])).values()];

/** Without an unbounded repetition, the time is linear: each position takes a bounded number of steps. */
function isBounded({ source }: Pattern): boolean {
  return !/[*+]|\{\d+,\}/.test(source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, ''));
}

const slow: (Pattern & { status: string; degree: string })[] = [];
for (const pattern of different.filter((each) => !isBounded(each))) {
  // The checker does not know the flag `v`. No expression of the product uses what it adds to `u`.
  const result = await check(pattern.source, pattern.flags.replace('v', 'u'), { timeout: seconds * 1000 });
  if (result.status === 'safe') continue;
  const degree = result.status === 'vulnerable' ? result.complexity.type : 'unknown';
  slow.push({ ...pattern, status: result.status, degree });
}
console.log(JSON.stringify({ checked: different.length, constructed: composing.length, slow }));
// The checker keeps a process of its own running.
process.exit(0);
