import { useState } from 'react';
import { Difference } from '../difference.js';
import { ActionButton } from '../parts.js';
import { personId } from '../session.js';
import { Time } from '../time.js';
import { useNames } from '../use-names.js';
import type { Edited } from './document.js';
import type { Editor } from './use-editor.js';
import messageStyles from '../styles/message.module.css';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';

interface NotesOptions {
  /** The stored agentflow; undefined for a new one. */
  agentflow: Edited | undefined;
  editor: Editor;
}

/** Says that there are unsaved changes, and what to do if somebody else has stored another version meanwhile. */
export function ChangeNotes({ agentflow, editor }: NotesOptions) {
  if (editor.changedAt === undefined) return null;
  if (agentflow && editor.isOutdated) return <OtherVersion agentflow={agentflow} editor={editor} />;
  return (
    <p className={messageStyles.note}>
      You have unsaved changes to this agentflow. This browser keeps them, the last one from{' '}
      <Time at={editor.changedAt} />.
    </p>
  );
}

function OtherVersion({ agentflow, editor }: { agentflow: Edited; editor: Editor }) {
  const nameOf = useNames();
  const [isCompared, setCompared] = useState(false);
  const { updated_by: by, updated_at } = agentflow;
  const who = by === undefined ? 'Somebody' : by === personId() ? 'You, in another window,' : nameOf(by);
  const both = editor.changedByBoth();
  return (
    <section className={messageStyles.note} aria-label="Another version was stored">
      <p role="alert">
        <bdi>{who}</bdi> changed this agentflow <Time at={updated_at} />, after you began to edit it. Your changes, the
        last one from <Time at={editor.changedAt} />, are not saved. Choose what becomes of them.
      </p>
      {both.length > 0 && (
        <p>
          Both of you changed: {both.join(', ')}. If you keep your changes, they replace the others there when you save.
        </p>
      )}
      <p className={controlStyles.actions}>
        <ActionButton
          name="Compare"
          isPressed={isCompared}
          isDisabled={editor.document === undefined}
          onClick={() => setCompared(!isCompared)}
        />
        <ActionButton
          name="Keep my changes"
          className={buttonStyles.primary}
          isDisabled={editor.document === undefined}
          onClick={editor.rebase}
        />
        <ActionButton name="Take the stored version" onClick={editor.discard} />
      </p>
      {isCompared && editor.document && <Difference from={editor.stored} to={editor.rebased()} />}
    </section>
  );
}
