import { z } from 'zod';
import { isAppError } from '../errors.js';
import { answerGate, checkJson } from '../json-gate.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { ChatCompletion, ChatRequest, ChatToolCall } from './port.js';
import { estimatedTokens } from './tokens.js';
import { parseJsonOrUndefined } from '../json.js';

const maxAnswerLength = 1_000_000;
/** Exceeds the number of tool calls that one turn runs. */
const maxToolCalls = 256;

/** Treats a field that cannot be read as absent, because endpoints vary. */
const text = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);
const Part = z.object({ text });
const Content = z
  .union([z.string(), z.array(Part).transform((parts) => parts.map((part) => part.text ?? '').join(''))])
  .nullish()
  .catch(null);
const Arguments = z
  .union([z.string(), z.looseObject({}).transform((value) => JSON.stringify(value))])
  .nullish()
  .catch(null);
const CallPiece = z.object({
  index: count,
  id: text,
  function: z.object({ name: text, arguments: Arguments }).nullish().catch(null),
});
const Piece = z
  .object({ content: Content, refusal: text, tool_calls: z.array(CallPiece).nullish().catch(null) })
  .nullish()
  .catch(null);
const Choice = z.object({ index: count, finish_reason: text, delta: Piece, message: Piece });
/** Treats a negative number as absent, because tokens are charged. */
const tokens = z.number().min(0).nullish().catch(null);
const Usage = z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null);
const Answer = z.object({ model: text, choices: z.array(Choice), usage: Usage });

/** Assembles a response from the chunks of the endpoint. Uses only the first choice. */
export function collectAnswer(request: Pick<ChatRequest, 'model' | 'messages' | 'conversation' | 'onText'>) {
  let model = request.model;
  let content = '';
  let refusal = '';
  let finished: string | null = null;
  let isWhole = false;
  let usage: z.infer<typeof Usage>;
  const calls = collectToolCalls();

  return {
    /**
     * Adds a chunk of a stream, or the complete response of an endpoint that does not stream.
     * @throws OutboundError
     */
    add(chunk: unknown): void {
      const parsed = Answer.safeParse(chunk);
      if (!parsed.success) throw unusableAnswer();
      model = parsed.data.model || model;
      usage = parsed.data.usage ?? usage;
      for (const { index, finish_reason, message, delta } of parsed.data.choices) {
        if ((index ?? 0) !== 0) continue;
        isWhole ||= Boolean(message);
        finished = finish_reason ?? finished;
        const piece = message ?? delta;
        const words = piece?.content ?? '';
        content += words;
        refusal += piece?.refusal ?? '';
        for (const call of piece?.tool_calls ?? []) calls.add(call);
        if (content.length + calls.size() > maxAnswerLength)
          throw new OutboundError('too_large', `the model's answer is larger than ${maxAnswerLength} characters`);
        if (words !== '') request.onText?.(words);
      }
    },
    /** @throws OutboundError `model_answer_unusable`, `model_refused`, `model_token_limit` */
    completion(): ChatCompletion {
      const tool_calls = calls.all();
      if (refusal !== '') throw new OutboundError('model_refused', 'the model refused to answer');
      if (finished === 'content_filter')
        throw new OutboundError('model_refused', 'the content filter of the model endpoint stopped the answer');
      if (finished === null && !isWhole) throw unusableAnswer('the model endpoint ended its answer early');
      const isEmpty = content.trim() === '' && tool_calls.length === 0;
      if (isEmpty && finished === 'length')
        throw new OutboundError('model_token_limit', 'the token limit of the answer was reached before its first word');
      if (isEmpty) throw unusableAnswer();
      const isCut = finished === 'length' && tool_calls.length === 0;
      return {
        model,
        content: isCut ? `${content}\n\n[cut: the token limit of the answer was reached]` : content,
        tool_calls: tool_calls.map(checked),
        usage: {
          input_tokens: usage?.prompt_tokens ?? estimatedTokens(charactersOf(request)),
          output_tokens: usage?.completion_tokens ?? estimatedTokens(content.length + calls.size()),
        },
      };
    },
  };
}

/**
 * Assembles tool calls. The pieces of a call share an index, and the first piece has the id and the name. Some
 * endpoints omit the index or use one index for several calls. For those, a new id starts a new call.
 */
function collectToolCalls() {
  const calls: (ChatToolCall & { index: number | null })[] = [];
  let size = 0;
  return {
    add(piece: z.infer<typeof CallPiece>) {
      const index = piece.index ?? null;
      const id = piece.id ?? '';
      const name = piece.function?.name ?? '';
      const more = piece.function?.arguments ?? '';
      const known = index === null ? calls.at(-1) : calls.findLast((call) => call.index === index);
      const isNew = !known || (id !== '' && known.id !== '' && known.id !== id);
      size += name.length + more.length;
      if (isNew && calls.length === maxToolCalls)
        throw new OutboundError('too_large', `the model's answer has more than ${maxToolCalls} tool calls`);
      if (isNew) calls.push({ index, id, name, arguments: more });
      else {
        known.id ||= id;
        known.name ||= name;
        known.arguments += more;
      }
    },
    size: () => size,
    /** Replaces a missing or repeated id, so that each id is unique within the response. */
    all(): ChatToolCall[] {
      const taken = new Set<string>();
      return calls.map(({ id, name, arguments: written }, at) => {
        const own = id === '' || taken.has(id) ? `call_${at + 1}` : id;
        taken.add(own);
        return { id: own, name, arguments: written };
      });
    },
  };
}

/** Reports arguments that cannot be stored, because they become action inputs. */
function checked(call: ChatToolCall): ChatToolCall {
  try {
    checkJson(parseJsonOrUndefined(call.arguments) ?? null, answerGate('the arguments'));
    return call;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { ...call, problem: error.message };
  }
}

function charactersOf({ messages, conversation = [] }: Pick<ChatRequest, 'messages' | 'conversation'>): number {
  return (
    messages.reduce((sum, { content }) => sum + content.length, 0) +
    (conversation.length > 0 ? JSON.stringify(conversation).length : 0)
  );
}

export function unusableAnswer(message = 'the model endpoint gave no answer that can be read'): OutboundError {
  return new OutboundError('model_answer_unusable', message);
}
