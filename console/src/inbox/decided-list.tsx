import { ApprovalLink } from '../links.js';
import { Section } from '../parts.js';
import { Time } from '../time.js';
import { ForeignText } from '../foreign-text.js';
import listStyles from '../styles/lists.module.css';
import textStyles from '../styles/text.module.css';
import type { Decided } from './decision.js';

/** What this person has decided since they opened the page, the last first. All approvals keep the rest. */
export function DecidedList({ decided }: { decided: readonly Decided[] }) {
  if (decided.length === 0) return null;
  return (
    <Section title="Decided by you just now">
      <ul className={listStyles.rows} aria-label="Decided by you just now">
        {decided.map(({ id, approvalId, done, text, digest, at }) => (
          <li key={`${id} ${at}`}>
            <strong>{done}</strong>, <Time at={at} />: <ForeignText text={text} />{' '}
            {approvalId !== null && <ApprovalLink id={approvalId}>Open decision</ApprovalLink>}
            {digest !== undefined && (
              <details>
                <summary className={textStyles.soft}>Details</summary>
                SHA-256 of the decided text: <code>{digest}</code>
              </details>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
