import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';

/** The operations that rules can name, with the facts that rules can read. */
export function useOperations() {
  return useQuery({
    queryKey: ['policies', 'operations'],
    queryFn: () => call('get', '/v1/policies/operations'),
    staleTime: Infinity,
  }).data?.data;
}

/** Offers the names of all operations to a field with the list `policy-operations`. */
export function OperationChoices() {
  return (
    <datalist id="policy-operations">
      {useOperations()?.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/** Lists the facts that a condition for these operations can read, and says which of them no record keeps. */
export function Operations({ tools }: { tools: string }) {
  const names = tools.split(/[\s,]+/);
  const chosen =
    useOperations()?.filter(({ name, alias = name }) => names.includes(name) || names.includes(alias)) ?? [];
  return (
    <>
      <OperationChoices />
      {chosen.map(({ name, facts }) => (
        <p key={name} className="soft">
          {name}: <code>context.input</code> has {facts.map((fact) => fact.name).join(', ') || 'no facts'}.
          {facts.some(({ is_recorded }) => !is_recorded) &&
            ` Not recorded, so not tried on recorded calls: ${facts.flatMap((fact) => (fact.is_recorded ? [] : [fact.name])).join(', ')}.`}
        </p>
      ))}
    </>
  );
}
