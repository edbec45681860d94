import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface LinkOptions {
  id: string;
  /** The id by default. */
  children?: ReactNode;
}

const linkTo =
  (path: '/runs/$runId', parameter: string) =>
  ({ id, children = id }: LinkOptions) => (
    // Each path has one parameter.
    <Link to={path} params={{ [parameter]: id } as { runId: string }}>
      {children}
    </Link>
  );

export const RunLink = linkTo('/runs/$runId', 'runId');
export const LifecycleLink = linkTo('/lifecycles/$lifecycleId' as never, 'lifecycleId');
export const ApprovalLink = linkTo('/approvals/$approvalId' as never, 'approvalId');
export const AgentflowLink = linkTo('/agentflows/$agentflowId' as never, 'agentflowId');
export const ConnectorLink = linkTo('/connectors/$connectorId' as never, 'connectorId');
export const ScheduleLink = linkTo('/schedules/$scheduleId' as never, 'scheduleId');
export const TableLink = linkTo('/tables/$tableId' as never, 'tableId');
