import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface LinkOptions {
  id: string;
  /** By default, that it opens a record of this kind. */
  children?: ReactNode;
}

const linkTo =
  (name: string, path: '/runs/$runId', parameter: string) =>
  ({ id, children = `Open ${name}` }: LinkOptions) => (
    // Each path has one parameter.
    <Link to={path} params={{ [parameter]: id } as { runId: string }}>
      {children}
    </Link>
  );

export function ApprovalLink({ id, children = 'Open approval' }: LinkOptions) {
  return (
    <Link to="/inbox" search={{ approval: id }}>
      {children}
    </Link>
  );
}

export const RunLink = linkTo('run', '/runs/$runId', 'runId');
export const LifecycleLink = linkTo('call', '/lifecycles/$lifecycleId' as never, 'lifecycleId');
export const AgentflowLink = linkTo('agentflow', '/agentflows/$agentflowId' as never, 'agentflowId');
export const ConnectorLink = linkTo('connector', '/connectors/$connectorId' as never, 'connectorId');
export const ScheduleLink = linkTo('schedule', '/schedules/$scheduleId' as never, 'scheduleId');
export const TableLink = linkTo('table', '/tables/$tableId' as never, 'tableId');
