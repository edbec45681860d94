import { useNavigate } from '@tanstack/react-router';
import { call, type Approval } from '../api.js';
import { addHoldingRule } from '../curl.js';
import { named, type FilterField } from '../filter-form.js';
import { ApprovalLink, RunLink } from '../links.js';
import { List } from '../list.js';
import { Empty } from '../parts.js';
import { useHoldsGrant, useMay } from '../session.js';
import { useNames } from '../use-names.js';
import { column, timeColumn, stateColumn, type Column } from '../table.js';
import messageStyles from '../styles/message.module.css';

const fields: readonly FilterField<'status'>[] = [
  { name: 'status', label: 'State', options: named('pending', 'approved', 'rejected', 'expired', 'used') },
];

/** Lists all approvals, also decided ones. */
export function ApprovalList({ status }: { status: string | undefined }) {
  const navigate = useNavigate();
  const filter = status === undefined ? {} : { status };
  const nameOf = useNames();
  const seesAll = useHoldsGrant('svc:governance.read');
  const columns: readonly Column<Approval>[] = [
    stateColumn(({ status }) => status),
    column('What', { width: 'minmax(14rem, 4fr)', onNarrow: 'main' }, ({ approval_id, summary }) => (
      <ApprovalLink id={approval_id}>{summary}</ApprovalLink>
    )),
    column('Run', { width: '6rem', onNarrow: 'hidden' }, ({ execution_id }) =>
      execution_id === null ? null : <RunLink id={execution_id}>Run</RunLink>,
    ),
    column('Requested by', { width: 'minmax(9rem, 2fr)', onNarrow: 'hidden' }, ({ requested_by }) => (
      <bdi>{nameOf(requested_by)}</bdi>
    )),
    column('Rules', { width: 'minmax(8rem, 2fr)', onNarrow: 'hidden' }, ({ policy_ids }) => policy_ids.join(', ')),
    timeColumn('Requested', ({ created_at }) => created_at),
    column('Decided by', { width: 'minmax(8rem, 1fr)', onNarrow: 'hidden' }, ({ decided_by }) =>
      decided_by === null ? null : <bdi>{nameOf(decided_by)}</bdi>,
    ),
    timeColumn('Expires', ({ expires_at }) => expires_at, 'hidden'),
  ];
  const mayAddRule = useMay()('post /v1/policies/rules');
  return (
    <List
      filters={{
        fields,
        filter,
        onChange: (next) => void navigate({ to: '/inbox', search: { show: 'approvals', ...next }, replace: true }),
      }}
      name="Approvals"
      counted={['approval', 'approvals']}
      queryKey={['approvals', filter]}
      load={(page) =>
        call('get', '/v1/approvals', {
          query: { ...page, ...(status !== undefined && { status: status as Approval['status'] }) },
        })
      }
      columns={columns}
      keyOf={({ approval_id }) => approval_id}
      limit={
        !seesAll && (
          <p className={messageStyles.note}>
            You may only see the approvals that you requested. To see all approvals of the project, you need the grant
            svc:governance.read.
          </p>
        )
      }
      empty={
        seesAll ? (
          <Empty {...(mayAddRule && { command: addHoldingRule })}>
            This project has no approvals yet. Policies define which calls require approval.
            {mayAddRule && ' This command adds a rule that requires it for every HTTP call of an agent:'}
          </Empty>
        ) : (
          <p className={messageStyles.empty}>You have not requested any approvals.</p>
        )
      }
    />
  );
}
