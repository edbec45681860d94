import { useState } from 'react';
import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { Empty, useDraft, Window } from '../parts.js';
import { apiAddress } from '../session.js';

const invalidates = [['syncs']];

interface Bound {
  repository: string;
  webhook_path: string;
  webhook_secret: string;
}

/** Follows a repository and shows its webhook secret once. The secret is kept in memory only. */
export function Follow() {
  const [isOpen, setOpen] = useState(false);
  const [repository, setRepository] = useDraft('syncs.repository');
  const [branch, setBranch] = useDraft('syncs.branch');
  const [bound, setBound] = useState<Bound>();
  const act = async (options: { idempotencyKey: string }) => {
    const body = { repository: repository.trim(), ...(branch.trim() !== '' && { branch: branch.trim() }) };
    setBound(await call('post', '/{projectID}/syncs/repositories', { body }, options));
    setRepository('');
    setBranch('');
  };
  return (
    <>
      <p className="actions">
        <button type="button" onClick={() => setOpen(true)}>
          Follow a repository…
        </button>
      </p>
      {isOpen && (
        <Confirm
          title="Follow a repository"
          action="Follow it"
          act={act}
          invalidates={invalidates}
          onClose={() => setOpen(false)}
        >
          <p>Its pushes are written into the context graph. To follow it again replaces the secret of its webhook.</p>
          <TextField
            label="Repository"
            name="repository"
            text={repository}
            onChange={setRepository}
            placeholder="owner/name"
            maxLength={200}
            autoFocus
          />
          <TextField
            label="Branch (empty: every branch)"
            name="branch"
            text={branch}
            onChange={setBranch}
            maxLength={255}
          />
        </Confirm>
      )}
      {bound && (
        <Window title={`The webhook of ${bound.repository}`} onClose={() => setBound(undefined)}>
          <Empty command={new URL(bound.webhook_path.slice(1), apiAddress).href}>
            Enter this address at the code host, for pushes, as JSON:
          </Empty>
          <Empty command={bound.webhook_secret}>
            The secret of the webhook is shown once and cannot be read again. Enter it now:
          </Empty>
        </Window>
      )}
    </>
  );
}

export function Unfollow({ repository }: { repository: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="plain" aria-label={`Unfollow ${repository}…`} onClick={() => setOpen(true)}>
        Unfollow…
      </button>
      {isOpen && (
        <Confirm
          title={`Unfollow ${repository}?`}
          action="Unfollow it"
          isFinal
          act={() => call('delete', '/{projectID}/syncs/repositories', { query: { repository } })}
          invalidates={invalidates}
          onClose={() => setOpen(false)}
        >
          <p>Its pushes are ignored from then on, and the secret of its webhook is deleted. What they wrote stays.</p>
        </Confirm>
      )}
    </>
  );
}
