import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/base/packages.js';

interface ComposeService {
  image: string;
  profiles?: string[];
  build?: string;
  restart: string;
  environment?: Record<string, string | number>;
  ports?: string[];
  command?: string[];
  networks: string[];
  volumes?: string[];
  configs?: { source: string; target: string }[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  [setting: string]: unknown;
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  configs: Record<string, { content: string } | { file: string }>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
}

export function text(...parts: string[]): string {
  return readFileSync(path.join(packageRoot, ...parts), 'utf8');
}

/** `${NAME}`, `${NAME:-default}`, `${NAME:?message}` (Compose specification, Interpolation). */
export const reference = /(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}/g;

/** Follows Compose: a variable without a value gets its default, or a placeholder if it has none. */
export function interpolated(source: string, values: Record<string, string> = {}): string {
  return source.replace(
    reference,
    (_all, name: string, kind: string | undefined, rest = '') =>
      values[name] ?? (kind === '-' ? String(rest) : `given-${name}`),
  );
}

export function composeFile(source: string): ComposeFile {
  return parse(source, { merge: true }) as ComposeFile;
}

interface Instruction {
  name: string;
  rest: string;
}

/** The stages of the Dockerfile, each with its instructions; continued lines are joined. */
export function dockerStages(): Instruction[][] {
  const lines = text('Dockerfile')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line));
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [name = '', ...rest] = line.split(' ');
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, rest: rest.join(' ').trim() });
  }
  return stages;
}

/** The packages that the sources below these folders import at run time. */
export function packagesImportedBy(...folders: string[]): Set<string> {
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(folder, file))
      .filter((file) => file.endsWith('.ts')),
  );
  const names = files.flatMap((file) =>
    [...text(file).matchAll(/^(?!import type).*\bfrom '([^.'][^']*)'/gm)].map(([, name = '']) => name),
  );
  return new Set(
    names
      .filter((name) => !/^(node:|#)/.test(name))
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  );
}
