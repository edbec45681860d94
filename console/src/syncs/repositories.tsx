import { useState } from 'react';
import { call } from '../api.js';
import { TextField } from '../field.js';
import { Empty, Window } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { apiAddress } from '../session.js';
import { ConfirmButton } from '../confirm.js';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';

const invalidates = [['syncs']];

const follow = (repository: string, branch: string, options: { idempotencyKey: string }) =>
  call('post', '/{projectID}/syncs/repositories', { body: { repository, ...(branch !== '' && { branch }) } }, options);

/** Follows a repository and shows its webhook secret once. The secret is kept in memory only. */
export function Follow() {
  const [repository, setRepository] = useDraft('syncs.repository');
  const [branch, setBranch] = useDraft('syncs.branch');
  const [bound, setBound] = useState<Awaited<ReturnType<typeof follow>>>();
  const act = async (options: { idempotencyKey: string }) => {
    setBound(await follow(repository.trim(), branch.trim(), options));
    setRepository('');
    setBranch('');
  };
  return (
    <>
      <p className={controlStyles.actions}>
        <ConfirmButton
          operation="post /{projectID}/syncs/repositories"
          button="Follow repository…"
          title="Follow repository"
          action="Follow"
          act={act}
          invalidates={invalidates}
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
        </ConfirmButton>
      </p>
      {bound && (
        <Window title={`Webhook of ${bound.repository}`} isDismissable={false} onClose={() => setBound(undefined)}>
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
  return (
    <ConfirmButton
      operation="delete /{projectID}/syncs/repositories"
      button="Unfollow…"
      buttonName={`Unfollow ${repository}…`}
      className={buttonStyles.plain}
      title={`Unfollow ${repository}?`}
      action="Unfollow"
      isFinal
      act={() => call('delete', '/{projectID}/syncs/repositories', { query: { repository } })}
      invalidates={invalidates}
    >
      <p>Further pushes are ignored, and the webhook secret is deleted. Data that was written before is kept.</p>
    </ConfirmButton>
  );
}
