import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';

/**
 * `from-multihop.js questions [corpus] [--questions N] [--passages N]` converts HotpotQA (CC BY-SA 4.0) and MuSiQue (CC BY 4.0),
 * which are not shipped, to the format of README.md. It reads the samples of github.com/OSU-NLP-Group/HippoRAG, MuSiQue and
 * what IRCoT (github.com/StonyBrookNLP/ircot) prepares. Each passage is an element whose name is its title. Without a
 * corpus, the passages of all questions are the corpus; with a limit, those of the sample come first.
 */
interface Passage {
  title: string;
  text: string;
}

interface Question {
  question: string;
  category: string;
  evidence: Passage[];
  /** The passages that come with the question. */
  passages: Passage[];
}

const Corpus = z.union([
  z
    .record(z.string(), z.array(z.string()))
    .transform((pages) => Object.entries(pages).map(([title, sentences]) => ({ title, text: sentences.join('') }))),
  z.array(z.object({ title: z.string(), text: z.string() })),
]);
const HotpotQuestion = z.object({ question: z.string(), type: z.string(), supporting_facts: z.unknown() });
const MusiqueQuestion = z.object({ question: z.string(), id: z.string(), paragraphs: z.unknown() });
const IrcotQuestion = z.object({ question_text: z.string(), contexts: z.unknown() });
const SupportingFacts = z.array(z.tuple([z.string(), z.number()]));
const Paragraphs = z.array(z.object({ title: z.string(), paragraph_text: z.string(), is_supporting: z.boolean() }));

/** The order of a sample. It is the same on each machine. */
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const keyOf = ({ title, text }: Passage) => JSON.stringify([title, text]);

function questionOf(json: unknown): Question {
  const hotpot = HotpotQuestion.safeParse(json).data;
  if (hotpot) {
    const facts = SupportingFacts.parse(fromPython(hotpot.supporting_facts));
    const evidence = facts.map(([title]) => ({ title, text: '' }));
    return { question: hotpot.question, category: hotpot.type, evidence, passages: [] };
  }
  const ircot = IrcotQuestion.safeParse(json).data;
  if (ircot) {
    const of = passagesOf(ircot.contexts);
    return { question: ircot.question_text, category: `${of.evidence.length}hop`, ...of };
  }
  const { question, id, paragraphs } = MusiqueQuestion.parse(json);
  return { question, category: id.slice(0, 4), ...passagesOf(paragraphs) };
}

function passagesOf(json: unknown): Pick<Question, 'evidence' | 'passages'> {
  const paragraphs = Paragraphs.parse(fromPython(json));
  const toPassage = ({ title, paragraph_text: text }: (typeof paragraphs)[number]) => ({ title, text });
  return {
    evidence: paragraphs.filter((each) => each.is_supporting).map(toPassage),
    passages: paragraphs.map(toPassage),
  };
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { questions: { type: 'string' }, passages: { type: 'string' } },
});
const [questionFile = '', corpusFile] = positionals;

function read(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  if (!file.endsWith('.jsonl')) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line): unknown => JSON.parse(line));
}

const all = z.array(z.unknown()).parse(read(questionFile)).map(questionOf);
const ordered =
  values.questions === undefined ? all : all.toSorted((a, b) => (hashOf(a.question) < hashOf(b.question) ? -1 : 1));
const asked = ordered.slice(0, Number(values.questions ?? all.length));
const own = new Map(ordered.flatMap((each) => each.passages).map((passage) => [keyOf(passage), passage]));
const passages = (
  corpusFile === undefined
    ? [...own.values()].slice(0, Number(values.passages ?? own.size))
    : Corpus.parse(read(corpusFile))
).filter(({ text }) => text !== '');
const idOf = ({ title, text }: Passage) =>
  `${passages.findIndex((each) => each.title === title && (text === '' || each.text === text))}`;
const questions = asked.flatMap(({ question, category, evidence: of }) => {
  const evidence = [...new Set(of.map(idOf))].filter((id) => id !== '-1');
  return evidence.length > 0 ? [{ question, category, evidence }] : [];
});
const elements = passages.map(({ title: name, text }, at) => ({ id: `${at}`, name, text }));
process.stdout.write(JSON.stringify({ name: questionFile.replace(/^.*\/|\.jsonl?$/g, ''), elements, questions }));
