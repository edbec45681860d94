import { isAppError } from '../base/errors.js';
import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../base/json.js';
import { answerGate, checkJson } from '../base/json-gate.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { collectContent } from './answer-content.js';
import { mergeFields, unknownFields, type Echo } from './echo.js';
import { brokenAnswer, cleanReason, unusableAnswer } from './endpoint-failure.js';
import { endingOf, type Ending } from './endings.js';
import type { ChatCompletion, ChatRequest, ChatToolCall } from './port.js';
import { splitThinking, thinkingIn } from './thinking.js';
import { estimatedTokens } from './tokens.js';
import { repairedArguments } from './tool-arguments.js';
import { collectToolCalls } from './tool-calls.js';
import { toolSchemaOf } from './tool-schema.js';

const maxAnswerLength = 1_000_000;
const knownFields: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'function_call', 'refusal']);

type Asked = Pick<ChatRequest, 'model' | 'messages' | 'conversation' | 'tools' | 'outputSchema' | 'onText'>;

/** Assembles a response from the chunks of the endpoint. Uses only the first choice. */
export function collectAnswer(request: Asked, secrets: readonly string[] = []) {
  let model = request.model;
  let refusal = '';
  let finished = '';
  let isComplete = false;
  let usage: Usage = {};
  let fields: Echo = {};
  let fieldsLength = 0;
  const calls = collectToolCalls();
  const content = collectContent(request.onText);

  function addMessage(message: JsonObject, isWhole: boolean): void {
    if (message.content !== null && message.content !== undefined) content.add(message.content, isWhole);
    if (typeof message.refusal === 'string') refusal += message.refusal;
    calls.add(message.tool_calls, isWhole);
    if (isJsonObject(message.function_call)) calls.add([{ function: message.function_call }], isWhole);
    const others = unknownFields(message, knownFields);
    if (Object.keys(others).length === 0) return;
    fields = isWhole ? { ...fields, ...others } : mergeFields(fields, others);
    fieldsLength += JSON.stringify(others).length;
  }

  function addChoice(choice: JsonObject): void {
    const { index, finish_reason, native_finish_reason: native, delta, message } = choice;
    if (typeof index === 'number' && index !== 0) return;
    if (typeof finish_reason === 'string' && endingOf(finish_reason) !== 'none') finished = finish_reason;
    // The reason of the provider behind a gateway that reports its refusal as an ordinary end.
    if (typeof native === 'string' && endingOf(native) === 'refused') finished = native;
    const hasDelta = isJsonObject(delta) && Object.values(delta).some((value) => value !== null && value !== '');
    if (hasDelta) addMessage(delta, false);
    else if (isJsonObject(message)) addMessage(message, true);
    if (content.text().length + calls.size() + fieldsLength > maxAnswerLength)
      throw new OutboundError('too_large', `the model's answer is larger than ${maxAnswerLength} characters`);
  }

  return {
    /**
     * Adds a chunk of a stream, or the complete response of an endpoint that does not stream. Ignores a chunk without
     * choices: endpoints send them to keep the connection open, and for usage and filters.
     * @throws OutboundError
     */
    add(chunk: unknown): void {
      if (!isJsonObject(chunk)) return;
      if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
      usage = usageIn(chunk) ?? usage;
      finished = blockReasonIn(chunk) ?? finished;
      const choices: unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
      for (const choice of choices) if (isJsonObject(choice)) addChoice(choice);
    },
    hasBegun: () => content.text() !== '' || calls.size() > 0,
    /** The endpoint has said that nothing follows: the whole body was read, or the stream was ended. */
    end(): void {
      isComplete = true;
    },
    /** @throws OutboundError `model_answer_unusable`, `model_refused`, `model_token_limit` */
    completion(): ChatCompletion {
      const { text, thinking: tagged } = splitThinking(content.text());
      const thinking = [thinkingIn(fields), content.thinking(), tagged].filter((each) => each !== '').join('\n\n');
      const found = calls.all();
      const ending = endingOf(finished);
      const isEmpty = text.trim() === '' && found.length === 0;
      const reason = { finished: cleanReason(finished, secrets), refusal: cleanReason(refusal, secrets) };
      checkEnding({
        ending,
        ...reason,
        isEmpty,
        isComplete: isComplete && calls.areComplete(),
        hasThinking: thinking !== '',
      });
      if (/call|tool/i.test(finished) && found.length === 0)
        throw brokenAnswer(`the model endpoint ended its answer with "${reason.finished}", but sent no tool call`);
      const isCut = ending === 'cut' && found.length === 0;
      const original = content.parts() ?? (text === content.text() ? undefined : content.text());
      const echo = { ...fields, ...(original !== undefined && { content: original }) };
      const hasEcho = Object.keys(echo).length > 0 || found.some((call) => call.echo);
      return {
        model,
        content: isCut && !request.outputSchema ? `${text}\n\n[cut: the token limit of the answer was reached]` : text,
        ...(isCut && { is_cut: true }),
        ...(thinking !== '' && { thinking }),
        tool_calls: found.map((call) => checked(call, request.tools)),
        ...(hasEcho && { echo: { model: request.model, fields: echo } }),
        usage: {
          input_tokens: usage.input ?? estimatedTokens(charactersOf(request)),
          output_tokens:
            usage.output ?? estimatedTokens(content.text().length + calls.size() + thinking.length - tagged.length),
        },
      };
    },
  };
}

interface End {
  ending: Ending;
  finished: string;
  refusal: string;
  isEmpty: boolean;
  isComplete: boolean;
  hasThinking: boolean;
}

/** @throws OutboundError unless the answer is complete and says something */
function checkEnding({ ending, finished, refusal, isEmpty, isComplete, hasThinking }: End): void {
  if (refusal.trim() !== '') throw new OutboundError('model_refused', `the model refused to answer: ${refusal}`);
  if (ending === 'refused')
    throw new OutboundError(
      'model_refused',
      `the content filter of the model endpoint stopped the answer (${finished})`,
    );
  if (ending === 'unknown') throw brokenAnswer(`the model endpoint ended its answer with "${finished}"`);
  if (ending === 'none' && !isComplete)
    throw isEmpty ? unusableAnswer() : unusableAnswer('the model endpoint ended its answer early');
  if (!isEmpty) return;
  if (ending === 'cut')
    throw new OutboundError('model_token_limit', 'the token limit of the answer was reached before its first word');
  if (ending === 'none' && !hasThinking) throw unusableAnswer();
  throw brokenAnswer(hasThinking ? 'the model thought, but gave no answer' : 'the model gave an empty answer');
}

/** Why Gemini refused the prompt. */
function blockReasonIn({ promptFeedback, prompt_feedback }: JsonObject): string | undefined {
  const feedback = [promptFeedback, prompt_feedback].find(isJsonObject);
  const reason = feedback?.blockReason ?? feedback?.block_reason;
  return typeof reason === 'string' ? reason : undefined;
}

interface Usage {
  input?: number | undefined;
  output?: number | undefined;
}

/** Reads the token counts, which some endpoints put into the choice or into a field of their own. */
function usageIn(chunk: JsonObject): Usage | undefined {
  const first: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  const places = [chunk.usage, isJsonObject(first) && first.usage, isJsonObject(chunk.x_groq) && chunk.x_groq.usage];
  const usage = places.find(isJsonObject);
  if (!usage) return undefined;
  return {
    input: countIn(usage.prompt_tokens) ?? countIn(usage.input_tokens),
    output: countIn(usage.completion_tokens) ?? countIn(usage.output_tokens),
  };
}

/** Treats a negative number as absent, because tokens are charged. */
function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Repairs the arguments of a call, and reports those that cannot be stored, because they become action inputs. */
function checked(call: ChatToolCall, tools: ChatRequest['tools'] = []): ChatToolCall {
  const tool = tools.find(({ name }) => name === call.name);
  const repaired = { ...call, arguments: repairedArguments(call.arguments, tool && toolSchemaOf(tool)) };
  try {
    checkJson(parseJsonOrUndefined(repaired.arguments) ?? null, answerGate('the arguments'));
    return repaired;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { ...repaired, problem: error.message };
  }
}

function charactersOf({ messages, conversation = [] }: Pick<ChatRequest, 'messages' | 'conversation'>): number {
  return (
    messages.reduce((sum, { content }) => sum + content.length, 0) +
    (conversation.length > 0 ? JSON.stringify(conversation).length : 0)
  );
}
