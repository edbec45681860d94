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
          Follow repository…
        </button>
      </p>
      {isOpen && (
        <Confirm
          title="Follow repository"
          action="Follow"
          act={act}
          invalidates={invalidates}
          onClose={() => setOpen(false)}
        >
          <p>
            Pushes to this repository are written to the context graph. If you follow a repository again, its webhook
            secret is replaced.
          </p>
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
            label="Branch (optional; default: all branches)"
            name="branch"
            text={branch}
            onChange={setBranch}
            maxLength={255}
          />
        </Confirm>
      )}
      {bound && (
        <Window title={`Webhook of ${bound.repository}`} onClose={() => setBound(undefined)}>
          <Empty command={new URL(bound.webhook_path.slice(1), apiAddress).href}>
            At the code host, add a webhook for push events in JSON format with this address:
          </Empty>
          <Empty command={bound.webhook_secret}>Copy the webhook secret now. It is not shown again:</Empty>
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
          action="Unfollow"
          isFinal
          act={() => call('delete', '/{projectID}/syncs/repositories', { query: { repository } })}
          invalidates={invalidates}
          onClose={() => setOpen(false)}
        >
          <p>Further pushes are ignored, and the webhook secret is deleted. Data that was written before is kept.</p>
        </Confirm>
      )}
    </>
  );
}
