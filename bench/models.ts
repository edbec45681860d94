import { createServer } from 'node:http';
import OpenAI from 'openai';
import { createOpenAiModel } from '../src/models/openai.js';
import { listen } from '../test/support/ports.js';
import { inTurns, medians, perSecond, type Figure } from './measure.js';

const callers = 10;
const turnsOfRound = 400;
const rounds = 6;
const messages = [
  { role: 'system' as const, content: 'You are a clerk.' },
  { role: 'user' as const, content: 'What is in the report? '.repeat(20) },
];

/** Compares the rate of model turns with the bare client, for an endpoint that streams 1 or 50 words without delay. */
export async function benchModels(): Promise<Figure[]> {
  const { url, close } = await startEndpoint();
  try {
    return [await compare(url, 1), await compare(url, 50)];
  } finally {
    await close();
  }
}

async function compare(baseUrl: string, words: number): Promise<Figure> {
  const model = createOpenAiModel({ baseUrl: `${baseUrl}/${words}`, apiKey: 'none' });
  const bare = new OpenAI({ baseURL: `${baseUrl}/${words}`, apiKey: 'none', maxRetries: 0 });
  const rates = await inTurns(
    rounds,
    () => perSecond(turnsOfRound, callers, () => takeTurn(model)),
    () => perSecond(turnsOfRound, callers, () => takeBareTurn(bare)),
  );
  return medians(`model turns, ${words} words streamed`, '/s', rates, 'at least 0.8');
}

async function takeTurn(model: ReturnType<typeof createOpenAiModel>): Promise<void> {
  let streamedText = '';
  const { content } = await model.complete({
    model: 'bench',
    temperature: 0.2,
    maxTokens: 100,
    messages,
    material: { title: '', goal: '', prompt: '', documents: [], outputs: [], actions: [] },
    signal: new AbortController().signal,
    idempotencyKey: 'bench',
    onText: (text) => (streamedText += text),
  });
  if (content !== streamedText) throw new Error('the turn was not told as it was taken');
}

async function takeBareTurn(client: OpenAI): Promise<void> {
  const stream = await client.chat.completions.create({
    model: 'bench',
    temperature: 0.2,
    max_tokens: 100,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let streamedText = '';
  for await (const chunk of stream) streamedText += chunk.choices[0]?.delta.content ?? '';
  if (streamedText === '') throw new Error('the bare client was told nothing');
}

/** Starts an endpoint that streams as many words as the first segment of the path says. */
function startEndpoint() {
  const event = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'bench', choices, ...more })}\n\n`;
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      const words = Number(req.url?.split('/')[1]);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < words; at += 1)
        res.write(event([{ index: 0, delta: { content: `word ${at} ` }, finish_reason: null }]));
      res.end(
        `${event([{ index: 0, delta: {}, finish_reason: 'stop' }])}${event([], { usage: { prompt_tokens: 100, completion_tokens: words } })}data: [DONE]\n\n`,
      );
    });
  });
  return listen(server);
}
