import { parse } from 'yaml';
import { isFields } from '../../agentflows/document.js';
import { actionOfCurl } from './curl.js';
import { NotReadable, type Imported } from './imported.js';
import { maxCurlLength, maxImportedLength } from './limits.js';
import { actionsOfOpenApi } from './openapi.js';

/**
 * Reads a curl line, or an OpenAPI document as JSON or YAML.
 * @throws NotReadable with what is wrong and what is expected
 */
export function readImport(text: string): Imported {
  const trimmed = text.trim();
  if (trimmed === '') throw new NotReadable('Paste an OpenAPI document or a curl line.');
  const isCurl = /^(\$ *)?curl(\.exe)?\s/.test(trimmed);
  const limit = isCurl ? maxCurlLength : maxImportedLength;
  if (trimmed.length > limit)
    throw new NotReadable(`The text must have at most ${limit.toLocaleString('en')} characters.`);
  return isCurl ? actionOfCurl(trimmed.replace(/^\$ */, '')) : actionsOfOpenApi(documentIn(trimmed));
}

function documentIn(text: string) {
  const value = valueIn(text);
  if (!isFields(value))
    throw new NotReadable('The text must be an OpenAPI document (JSON or YAML), or begin with "curl".');
  return value;
}

function valueIn(text: string): unknown {
  try {
    // YAML is much slower to read, and JSON is the more frequent of both.
    if (text.startsWith('{')) return JSON.parse(text) as unknown;
  } catch (error) {
    throw new NotReadable(`The text is not valid JSON: ${(error as Error).message}`);
  }
  if (isTooDeep(text)) throw new NotReadable('The text is not valid YAML: its parts are nested too deeply.');
  try {
    // Few aliases: a short text can otherwise describe a huge value.
    return parse(text, { maxAliasCount: 100, logLevel: 'error' }) as unknown;
  } catch (error) {
    const [what = ''] = (error as Error).message.split('\n');
    throw new NotReadable(`The text is not valid YAML: ${what}`);
  }
}

const maxBrackets = 500;

/** The parser of YAML would need more memory than a tab has. Lines that are indented so deeply exceed the limit of the length. */
function isTooDeep(text: string): boolean {
  if (/(?:[-?][ \t]+){100}/.test(text)) return true;
  let depth = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    depth = Math.max(0, depth + ('[{'.includes(bracket) ? 1 : -1));
    if (depth > maxBrackets) return true;
  }
  return false;
}
