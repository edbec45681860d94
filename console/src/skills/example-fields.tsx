import { useState } from 'react';
import { isFields, type Fields } from '../agentflows/document.js';
import { JsonField, parsed } from '../json-field.js';
import { ActionButton } from '../parts.js';
import { fieldsOfExample } from './import/field-types.js';
import textStyles from '../styles/text.module.css';

/** Makes the fields of the answer from an example that the person pastes. */
export function ExampleFields({ onFields }: { onFields: (fields: Fields[]) => void }) {
  const [example, setExample] = useState('');
  const [problem, setProblem] = useState<string>();
  const take = () => {
    const read = parsed(example);
    if ('problem' in read) return setProblem(read.problem.message);
    if (!isFields(read.value)) return setProblem('the example must be a JSON object');
    setProblem(undefined);
    onFields(fieldsOfExample(read.value));
  };
  return (
    <details>
      <summary>Fields from an example answer</summary>
      <p className={textStyles.soft}>Only the names and the types are kept. They replace the fields above.</p>
      <JsonField
        label="Example answer"
        rows={5}
        text={example}
        problems={problem === undefined ? [] : [{ message: problem }]}
        onChange={(text) => {
          setExample(text);
          setProblem(undefined);
        }}
      />
      <p>
        <ActionButton name="Use these fields" onClick={take} />
      </p>
    </details>
  );
}
