import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../parts.js';
import { useMay } from '../session.js';
import { Views } from '../views.js';
import { ApprovalDetails } from './approval-details.js';
import { ApprovalList } from './approval-list.js';
import { Waiting } from './waiting.js';

const route = getRouteApi('/inbox');

/** What waits for this person, and as another view all approvals of the project, also decided ones. */
export function Inbox() {
  const { item, approval, show, status } = route.useSearch();
  const navigate = route.useNavigate();
  const seesItems = useMay()('get /inbox');
  if (approval !== undefined) return <ApprovalDetails key={approval} id={approval} />;
  const views = { ...(seesItems && { waiting: 'Waiting' }), approvals: 'All approvals' };
  return (
    <Page title="Inbox">
      <Views
        label="Views of the inbox"
        names={views}
        selected={seesItems && show !== 'approvals' ? 'waiting' : 'approvals'}
        onSelect={(view) => void navigate({ search: view === 'approvals' ? { show: view } : {} })}
      >
        {(view) => (view === 'waiting' ? <Waiting linked={item ?? ''} /> : <ApprovalList status={status} />)}
      </Views>
    </Page>
  );
}
