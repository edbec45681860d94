import { parseJsonOrUndefined } from '../base/json.js';
import { factsOf } from './facts.js';
import { filledIn } from './filled-schema.js';
import { pickSentences, type PickedSentence, type Source } from './summarise.js';
import type { ChatMaterial, ChatModel, ConversationMessage } from './port.js';
import { estimatedTokens } from './tokens.js';

export const offlineModelName = 'offline';

/** Whether the offline model answers for a name. An empty name is that of the default model. */
export function isOfflineModel(
  { baseUrl, model: byDefault }: { baseUrl: string | undefined; model: string | undefined },
  name: string,
): boolean {
  return baseUrl === undefined || (name || byDefault) === offlineModelName;
}

const maxSentences = 8;
const maxFactsPerAction = 20;
const maxActions = 10;
const maxPromptLength = 600;

/**
 * Writes by rules and calls no language model. The same material always produces the same Markdown, whose second line
 * states its origin. An answer with a schema is a value of the schema with this text. Calls no tools.
 */
export function createOfflineModel(): ChatModel {
  return {
    async complete({ material, messages, conversation = [], outputSchema, signal }) {
      signal.throwIfAborted();
      const text = write({ ...material, actions: [...material.actions, ...toolResultsIn(conversation)] });
      const content = outputSchema ? JSON.stringify(filledIn(outputSchema, text)) : text;
      const characters = [...messages, ...conversation].reduce((sum, message) => sum + message.content.length, 0);
      const usage = { input_tokens: estimatedTokens(characters), output_tokens: estimatedTokens(content.length) };
      return { model: offlineModelName, content, tool_calls: [], usage };
    },
  };
}

/** Returns the tool results of a conversation that another model began. */
function toolResultsIn(conversation: readonly ConversationMessage[]): ChatMaterial['actions'] {
  const names = new Map(
    conversation.flatMap((message) =>
      message.role === 'assistant' ? message.tool_calls.map(({ id, name }) => [id, name] as const) : [],
    ),
  );
  return conversation.flatMap((message) =>
    message.role === 'tool'
      ? [
          {
            name: names.get(message.tool_call_id) ?? message.tool_call_id,
            output: parseJsonOrUndefined(message.content) ?? message.content,
          },
        ]
      : [],
  );
}

function write(material: ChatMaterial): string {
  const { documents, outputs, goal } = material;
  const fromDocuments = pickSentences(documents.map(readable), goal, maxSentences);
  // Earlier agents that used the offline model quote the same documents and append the source to the sentence.
  const isNew = ({ text }: PickedSentence) => !fromDocuments.some((known) => text.startsWith(known.text));
  const fromAgents = pickSentences(
    outputs.map(({ title, output }) => ({ name: title, text: output })),
    goal,
    2 * maxSentences,
  );
  const sections = [
    section('What the documents say', fromDocuments.map(quoted)),
    section('What the actions found', material.actions.slice(0, maxActions).flatMap(factLines)),
    section('What earlier agents noted', fromAgents.filter(isNew).slice(0, maxSentences).map(quoted)),
  ].filter((text) => text !== '');
  return [heading(material), ...(sections.length > 0 ? sections : [noMaterialText])].join('\n\n');
}

const noMaterialText =
  'There was no document, action result or earlier output to draw on, so this restates what was asked.';

function heading({ title, goal, prompt }: ChatMaterial): string {
  const task = prompt.trim() === '' || prompt.trim() === goal.trim() ? [] : [`**Task:** ${truncated(prompt)}`];
  // These lines are Markdown quotes, which `paragraphsOf` skips when another agent reads this output.
  const quotes = [
    'Written by the offline model: by rule from the material of this run, no language model was asked.',
    `**Goal:** ${truncated(goal) || 'none was given'}`,
    ...task,
  ];
  return `# ${title.replace(/\s+/g, ' ').trim() || 'Result'}\n\n${quotes.map((line) => `> ${line}`).join('\n>\n')}`;
}

function truncated(text: string): string {
  const line = text
    .slice(0, 4 * maxPromptLength)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= maxPromptLength ? line : `${line.slice(0, maxPromptLength - 1)}…`;
}

function section(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`;
}

function quoted({ source, text }: PickedSentence): string {
  return `- ${text} *(${source})*`;
}

function factLines({ name, output }: ChatMaterial['actions'][number]): string[] {
  const facts = factsOf(output, maxFactsPerAction + 1);
  return [
    `- **${name}**`,
    ...(facts.length === 0 ? ['  - (an empty answer)'] : []),
    ...facts.slice(0, maxFactsPerAction).map(({ path, value }) => `  - ${path}: ${value}`),
    ...(facts.length > maxFactsPerAction ? ['  - …'] : []),
  ];
}

function readable({ name, mime_type, text }: ChatMaterial['documents'][number]): Source {
  if (/json/i.test(mime_type)) return { name, text: jsonAsLines(text) };
  return { name, text: /html/i.test(mime_type) ? text.replace(/<[^<>]*>/g, ' ') : text };
}

function jsonAsLines(text: string): string {
  const json = parseJsonOrUndefined(text);
  if (json === undefined) return text;
  return factsOf(json, 200)
    .map(({ path, value }) => `- ${path}: ${value}`)
    .join('\n');
}
