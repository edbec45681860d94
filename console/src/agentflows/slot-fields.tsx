import { useQuery } from '@tanstack/react-query';
import type { components } from '@client/openapi.js';
import { call, type Connector } from '../api.js';
import { categoryNames } from '../connectors/states.js';
import textStyles from '../styles/text.module.css';
import { ConnectorField } from './connector-field.js';

type Category = Connector['category'];
type PublicationDetails = components['schemas']['PublicationDetails'];

export type ChosenSlots = Readonly<Record<string, string>>;

interface SlotFieldsOptions {
  publicationId: string;
  value: ChosenSlots;
  onChange: (slots: ChosenSlots) => void;
}

/** Chooses connectors of the project for an agentflow of the marketplace. Those that are not chosen can be chosen in the copy. */
export function SlotFields({ publicationId, value, onChange }: SlotFieldsOptions) {
  const { data } = useQuery({
    queryKey: ['marketplace', publicationId],
    queryFn: () => call('get', '/marketplace/{id}', { params: { id: publicationId } }),
    staleTime: 60_000,
  });
  if (!data || data.slots.length === 0) return null;
  return (
    <>
      <p className={textStyles.soft}>It uses these connectors. You can also choose them later.</p>
      {data.slots.map(({ name, category }, at) => (
        <ConnectorField
          key={name}
          label={labelOf(data.slots, at)}
          problem={undefined}
          value={value[name]}
          fitting={[category as Category]}
          onChange={(id) => {
            const { [name]: _before, ...others } = value;
            onChange(id === null ? others : { ...others, [name]: id });
          }}
        />
      ))}
    </>
  );
}

/** What a slot takes, in words, with a number if several take the same. */
function labelOf(slots: PublicationDetails['slots'], at: number): string {
  const kinds = slots.map(({ category, is_table }) => (is_table ? 'Table' : categoryNames[category as Category]));
  const kind = kinds[at] ?? '';
  if (kinds.filter((each) => each === kind).length === 1) return kind;
  return `${kind} ${kinds.slice(0, at + 1).filter((each) => each === kind).length}`;
}
