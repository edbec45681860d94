import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { projectId } from './session.js';

interface LinkOptions {
  id: string;
  /** The id by default. */
  children?: ReactNode;
}

export function LifecycleLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/lifecycles/$lifecycleId" params={{ projectId, lifecycleId: id }}>
      {children}
    </Link>
  );
}

/** Links to the audit entries of one governed call. */
export function AuditLink({ lifecycle, children }: { lifecycle: string; children: ReactNode }) {
  return (
    <Link to="/projects/$projectId/audit" params={{ projectId }} search={{ lifecycle_id: lifecycle }}>
      {children}
    </Link>
  );
}

export function ApprovalLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/approvals/$approvalId" params={{ projectId, approvalId: id }}>
      {children}
    </Link>
  );
}

export function AgentflowLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/agentflows/$agentflowId" params={{ projectId, agentflowId: id }}>
      {children}
    </Link>
  );
}

export function ConnectorLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/connectors/$connectorId" params={{ projectId, connectorId: id }}>
      {children}
    </Link>
  );
}

export function RunLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/runs/$runId" params={{ projectId, runId: id }}>
      {children}
    </Link>
  );
}

export function ScheduleLink({ id, children = id }: LinkOptions) {
  return (
    <Link to="/projects/$projectId/schedules/$scheduleId" params={{ projectId, scheduleId: id }}>
      {children}
    </Link>
  );
}
