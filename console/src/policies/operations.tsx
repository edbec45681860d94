import { useQuery } from '@tanstack/react-query';
import { call, capitalized, inWords } from '../api.js';
import { SelectField } from '../field.js';
import { ActionButton } from '../parts.js';
import { operationText } from '../words/words.js';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import textStyles from '../styles/text.module.css';

/** The operations that rules can name, with the facts that rules can read. */
export function useOperations() {
  return useQuery({
    queryKey: ['policies', 'operations'],
    queryFn: () => call('get', '/v1/policies/operations'),
    staleTime: Infinity,
  }).data?.data;
}

/** Offers the names of all operations to a field with this list. */
export function OperationChoices({ id }: { id: string }) {
  return (
    <datalist id={id}>
      {useOperations()?.map(({ name }) => (
        <option key={name} value={name}>
          {operationText(name)}
        </option>
      ))}
    </datalist>
  );
}

interface ChosenOptions {
  tools: readonly string[];
  onChange: (tools: readonly string[]) => void;
}

/** Chooses the operations that a rule covers, by what they do. */
export function ChosenOperations({ tools, onChange }: ChosenOptions) {
  const known = useOperations() ?? [];
  const options = known
    .filter(({ name, alias = name }) => !tools.includes(name) && !tools.includes(alias))
    .map(({ name }) => ({ value: name, name: operationText(name) }))
    .sort((one, other) => one.name.localeCompare(other.name));
  return (
    <>
      <ul className={controlStyles.chips} aria-label="Operations of the rule">
        {tools.length === 0 && <li>Everything</li>}
        {tools.map((tool) => (
          <li key={tool}>
            {operationText(tool)}{' '}
            <ActionButton
              name="Remove"
              aria-label={`Remove the operation ${operationText(tool)}`}
              className={buttonStyles.plain}
              onClick={() => onChange(tools.filter((other) => other !== tool))}
            />
          </li>
        ))}
      </ul>
      <SelectField
        label={tools.length === 0 ? 'Limit to an operation' : 'Add an operation'}
        name="tools"
        value=""
        options={[{ value: '', name: 'Select an operation' }, ...options]}
        onChange={(tool) => onChange([...tools, tool])}
      />
    </>
  );
}

/** Says which facts about these operations no record keeps. */
export function Operations({ tools }: { tools: readonly string[] }) {
  const chosen =
    useOperations()?.filter(({ name, alias = name }) => tools.includes(name) || tools.includes(alias)) ?? [];
  const kept = chosen.flatMap(({ name, facts }) => {
    const unrecorded = facts.flatMap((fact) => (fact.is_recorded ? [] : [capitalized(inWords(fact.name))]));
    return unrecorded.length > 0 ? [{ name, unrecorded }] : [];
  });
  return kept.map(({ name, unrecorded }) => (
    <p key={name} className={textStyles.soft}>
      {operationText(name)}: records do not keep {unrecorded.join(', ')}, so conditions on them are not tried on
      recorded calls.
    </p>
  ));
}
