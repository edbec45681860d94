import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * `node dist/bench/retrieval-quality/from-multihop.js hotpotqa_train.json hotpotqa_train_corpus.json > data.json` converts
 * the samples of HotpotQA (CC BY-SA 4.0) and MuSiQue (CC BY 4.0) in the first commit of github.com/OSU-NLP-Group/HippoRAG
 * (not shipped) to the format of README.md. Each passage is an element whose name is its title.
 */
interface Passage {
  title: string;
  text: string;
}

const Corpus = z.union([
  z
    .record(z.string(), z.array(z.string()))
    .transform((pages) => Object.entries(pages).map(([title, sentences]) => ({ title, text: sentences.join('') }))),
  z.array(z.object({ title: z.string(), text: z.string() })),
]);
const HotpotQuestion = z.object({ question: z.string(), type: z.string(), supporting_facts: z.unknown() });
const MusiqueQuestion = z.object({ question: z.string(), id: z.string(), paragraphs: z.unknown() });
const SupportingFacts = z.array(z.tuple([z.string(), z.number()]));
const Paragraphs = z.array(z.object({ title: z.string(), paragraph_text: z.string(), is_supporting: z.boolean() }));

const idOf = (passages: readonly Passage[], { title, text }: Passage) =>
  `${passages.findIndex((each) => each.title === title && (text === '' || each.text === text))}`;

function evidenceOf(question: unknown): { category: string; of: Passage[] } {
  const hotpot = HotpotQuestion.safeParse(question).data;
  if (hotpot) {
    const facts = SupportingFacts.parse(fromPython(hotpot.supporting_facts));
    return { category: hotpot.type, of: facts.map(([title]) => ({ title, text: '' })) };
  }
  const { id, paragraphs } = MusiqueQuestion.parse(question);
  const supporting = Paragraphs.parse(fromPython(paragraphs)).filter((each) => each.is_supporting);
  return { category: id.slice(0, 4), of: supporting.map(({ title, paragraph_text: text }) => ({ title, text })) };
}

/** Some lists are texts in the notation of Python. */
function fromPython(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(jsonOf(value)) : value;
}

function jsonOf(python: string): string {
  return python.replace(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(True|False|None)\b/gs, (_, one, two, word) => {
    if (word !== undefined) return { True: 'true', False: 'false', None: 'null' }[word as string] ?? 'null';
    const text = String(one ?? two).replace(/\\(x[\da-f]{2}|u[\da-f]{4}|.)/gis, (_escape, escaped: string) => {
      if (/^[xu]./i.test(escaped)) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return { n: '\n', t: '\t', r: '\r' }[escaped] ?? escaped;
    });
    return JSON.stringify(text);
  });
}

const [, , questionFile = '', corpusFile = ''] = process.argv;
const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const passages: Passage[] = Corpus.parse(read(corpusFile)).filter(({ text }) => text !== '');
const questions = z
  .array(z.object({ question: z.string() }).loose())
  .parse(read(questionFile))
  .flatMap((each) => {
    const { category, of } = evidenceOf(each);
    const evidence = [...new Set(of.map((passage) => idOf(passages, passage)))].filter((id) => id !== '-1');
    return evidence.length > 0 ? [{ question: each.question, category, evidence }] : [];
  });
const elements = passages.map(({ title: name, text }, at) => ({ id: `${at}`, name, text }));
process.stdout.write(JSON.stringify({ name: questionFile.replace(/^.*\/|\.json$/g, ''), elements, questions }));
