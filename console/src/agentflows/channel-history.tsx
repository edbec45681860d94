import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Promotion } from '../api.js';
import { SelectField } from '../field.js';
import { ApprovalLink } from '../links.js';
import { List } from '../list.js';
import { Problem, Section } from '../parts.js';
import { column, timeColumn, type Column } from '../table.js';
import { useNames } from '../use-names.js';
import messageStyles from '../styles/message.module.css';

const columnsOf = (nameOf: (id: string) => string): Column<Promotion>[] => [
  column('Version', { width: '9rem' }, ({ version, split }) => (
    <>
      Version {version}
      {split && ` (${split.percent} %: version ${split.version})`}
    </>
  )),
  timeColumn('Since', ({ promoted_at }) => promoted_at),
  column('By', { width: 'minmax(8rem, 1fr)' }, ({ promoted_by }) => <bdi>{nameOf(promoted_by)}</bdi>),
  column('Note', { width: 'minmax(8rem, 2fr)', onNarrow: 'main' }, ({ note }) => <bdi>{note}</bdi>),
  column('Approval', { width: '9rem', onNarrow: 'hidden' }, ({ approval_id }) =>
    approval_id === null ? 'Not needed' : <ApprovalLink id={approval_id} />,
  ),
];

/** Who has pointed a channel to which version, and when. */
export function ChannelHistory({ id }: { id: string }) {
  const nameOf = useNames();
  const { data, error } = useQuery({
    queryKey: ['agentflow', id, 'channels'],
    queryFn: () => call('get', '/agentflow/{id}/channels', { params: { id } }),
  });
  const [chosen, setChosen] = useState<string>();
  const channels = data?.channels.map(({ channel }) => channel) ?? [];
  const channel = chosen ?? (channels.includes('production') ? 'production' : channels[0]);
  if (channel === undefined) return <Problem error={error} />;
  return (
    <Section title="Who released what" level={3}>
      {channels.length > 1 && (
        <SelectField
          label="Channel"
          value={channel}
          options={channels.map((name) => ({ value: name, name }))}
          onChange={setChosen}
        />
      )}
      <List
        name="Who released what"
        counted={['change', 'changes']}
        queryKey={['agentflow', id, 'history', channel]}
        load={(query) => call('get', '/agentflow/{id}/channels/{channel}/history', { params: { id, channel }, query })}
        columns={columnsOf(nameOf)}
        keyOf={({ promoted_at, version }) => `${promoted_at} ${version}`}
        empty={<p className={messageStyles.empty}>This channel has pointed to no version yet.</p>}
      />
    </Section>
  );
}
