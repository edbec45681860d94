import { readFileSync } from 'node:fs';
import { z } from 'zod';

const Element = z.strictObject({
  /** Unique within the project. */
  id: z.string().min(1),
  text: z.string().min(1),
  /** The name; by default the id. */
  name: z.string().min(1).optional(),
  speaker: z.string().min(1).optional(),
  /** An ISO 8601 date, or a time with an offset. */
  time: z.string().optional(),
  /** A question finds only elements of its own project. */
  project: z.string().default('default'),
  /** Consecutive elements of one session are neighbours. */
  session: z.string().optional(),
});

const Question = z.strictObject({
  question: z.string().min(1),
  project: z.string().default('default'),
  category: z.string().min(1),
  /** The ids of all elements that are needed to answer the question. */
  evidence: z.array(z.string()).min(1),
});

const DataSet = z
  .strictObject({ name: z.string(), elements: z.array(Element).min(1), questions: z.array(Question).min(1) })
  .superRefine(({ elements, questions }, context) => {
    const known = new Set(elements.map(({ project, id }) => JSON.stringify([project, id])));
    for (const { question, project, evidence } of questions)
      for (const id of evidence.filter((each) => !known.has(JSON.stringify([project, each]))))
        context.addIssue({
          code: 'custom',
          message: `the evidence ${id} of “${question}” is no element of ${project}`,
        });
    if (known.size < elements.length) context.addIssue({ code: 'custom', message: 'two elements have the same id' });
  });

export type DataSet = z.infer<typeof DataSet>;
export type Element = z.infer<typeof Element>;

/** @throws ZodError that names what does not match the format (README.md) */
export function readDataSet(file: string): DataSet {
  return DataSet.parse(JSON.parse(readFileSync(file, 'utf8')));
}
