import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * `node dist/bench/retrieval-quality/from-locomo.js locomo10.json > data.json` converts LoCoMo (github.com/snap-research/locomo,
 * CC BY-NC 4.0, not shipped) to the format of README.md. It also reads the files of REALTALK
 * (github.com/danny911kr/REALTALK, not shipped), which has the same structure. Each conversation becomes a project.
 * Questions of category 5 have no answer and are left out.
 */
const Turn = z
  .object({
    speaker: z.string(),
    dia_id: z.string(),
    text: z.string().optional(),
    /** The text of a turn of REALTALK. */
    clean_text: z.string().optional(),
    /** The time of a turn of REALTALK. */
    date_time: z.string().optional(),
    blip_caption: z.string().optional(),
  })
  .refine(({ text, clean_text: clean }) => text !== undefined || clean !== undefined, 'a turn has no text');
const Asked = z.object({ question: z.string(), category: z.number(), evidence: z.array(z.string()).default([]) });
const Conversation = z
  .object({ qa: z.array(Asked), conversation: z.record(z.string(), z.unknown()).optional() })
  .loose();

const categories: Record<number, string> = { 1: 'several pieces', 2: 'time', 3: 'open', 4: 'single' };

function fromLocomo(json: unknown) {
  const elements: object[] = [];
  const questions: object[] = [];
  let name = 'LoCoMo';
  for (const [at, { qa, conversation, ...rest }] of z.array(Conversation).parse(json).entries()) {
    const project = `conversation ${at + 1}`;
    const turns = conversation ?? rest;
    const ids = new Set<string>();
    for (let session = 1; Array.isArray(turns[`session_${session}`]); session += 1) {
      for (const { speaker, dia_id: id, blip_caption: caption, ...turn } of z
        .array(Turn)
        .parse(turns[`session_${session}`])) {
        const text = turn.text ?? turn.clean_text ?? '';
        if (turn.clean_text !== undefined) name = 'REALTALK';
        const shown = caption === undefined ? text : `${text} (shares a photo: ${caption})`;
        const time = dayOf(turn.date_time ?? turns[`session_${session}_date_time`]);
        elements.push({ id, text: shown || '-', speaker, ...(time && { time }), project, session: `${session}` });
        ids.add(id);
      }
    }
    for (const { question, category, evidence } of qa) {
      const known = evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []).filter((id) => ids.has(id));
      const kind = categories[category];
      if (kind !== undefined && known.length > 0)
        questions.push({ question, project, category: kind, evidence: [...new Set(known)] });
    }
  }
  return { name, elements, questions };
}

/** Returns the date in a text such as "1:56 pm on 8 May, 2023" or "29.12.2023, 00:51:12". */
function dayOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : '';
  const [numeric, day, month, year] = /^(\d{2})\.(\d{2})\.(\d{4}),/.exec(text) ?? [];
  if (numeric !== undefined) return `${year}-${month}-${day}`;
  const time = Date.parse(`${/\d{1,2} \w+,? \d{4}/.exec(text)?.[0] ?? ''} UTC`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

const [, , ...files] = process.argv;
const read = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as unknown);
process.stdout.write(JSON.stringify(fromLocomo(read)));
