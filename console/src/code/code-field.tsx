import { lazy, Suspense, useId, useState } from 'react';
import { useRefusal } from '../field.js';
import { ProblemList, type TextProblem } from '../json-field.js';
import type { Place } from '../json-place.js';
import { Loading } from '../parts.js';
import type { CodeOptions } from './code-editor.js';
import styles from './code-field.module.css';

// The library is large, and only few pages need it.
const CodeEditor = lazy(() => import('./code-editor.js').then(({ CodeEditor: component }) => ({ default: component })));

interface CodeFieldOptions extends Omit<CodeOptions, 'selected' | 'problems'> {
  /** The path of the value in the request of the enclosing form. */
  name?: string;
  problems?: readonly TextProblem[];
  /** Finds the place of a problem that the API names. */
  placeOf?(problem: string): Place | undefined;
}

/** A field for code. Each problem shows its line and leads to its place. */
export function CodeField({ name = '', problems = [], placeOf, ...options }: CodeFieldOptions) {
  const refused = useRefusal(name);
  const id = useId();
  const [selected, setSelected] = useState<{ place: Place }>();
  const at = refused === undefined ? undefined : placeOf?.(refused);
  const all = refused === undefined ? problems : [...problems, { message: refused, ...(at && { at }) }];
  const [shown, setShown] = useState(all);
  // The same problems are not marked again.
  if (JSON.stringify(shown) !== JSON.stringify(all)) setShown(all);
  return (
    <div role="group" aria-labelledby={id}>
      <span id={id} className={styles.label}>
        {options.label}
      </span>
      <Suspense fallback={<Loading />}>
        <CodeEditor {...options} problems={shown} selected={selected} />
      </Suspense>
      <ProblemList text={options.text} problems={shown} onShow={(place) => setSelected({ place })} />
    </div>
  );
}
