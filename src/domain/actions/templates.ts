import { isJsonObject, parseJsonOrUndefined } from '../../base/json.js';
import { renderText, syntaxProblem } from '../../prompts/template.js';

/**
 * Renders the texts in a value that the author of an agentflow wrote. A field of another type than text has the JSON value
 * of the rendered text.
 * @throws AppError `validation_failed`, as `renderText`
 */
export function renderValue(
  what: string,
  value: unknown,
  { type, variables }: { type: string; variables: Record<string, unknown> },
): unknown {
  const rendered = renderTexts(what, value, variables);
  const isText = type === 'string' || type === 'any';
  return typeof rendered === 'string' && !isText ? (parseJsonOrUndefined(rendered) ?? rendered) : rendered;
}

function renderTexts(what: string, value: unknown, variables: Record<string, unknown>): unknown {
  if (typeof value === 'string') return isTemplate(value) ? renderText(what, value, variables) : value;
  if (Array.isArray(value)) return value.map((each) => renderTexts(what, each, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renderTexts(what, each, variables)]));
}

/** The author's defaults are not checked when they are saved: a text that is no valid template stays a text. */
function isTemplate(text: string): boolean {
  return /\{\{|\{%/.test(text) && syntaxProblem(text) === undefined;
}
