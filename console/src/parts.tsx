import { useEffect, useId, useState, type ButtonHTMLAttributes, type ReactNode } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { capitalized, inWords, lifecycleOf, messageOf } from './api.js';
import { LifecycleLink } from './links.js';
import { useSession } from './session.js';
import { useRetry } from './use-retry.js';
import textStyles from './styles/text.module.css';
import buttonStyles from './styles/button.module.css';
import skeletonStyles from './skeleton.module.css';
import messageStyles from './styles/message.module.css';
import badgeStyles from './badge.module.css';
import scrollStyles from './scroll-table.module.css';
import windowStyles from './window.module.css';

/** Grey lines in place of what loads. Screen readers read the word. */
export const Loading = () => (
  <div className={skeletonStyles.skeleton}>
    <p className={textStyles.hidden}>Loading…</p>
    <span />
    <span />
    <span />
  </div>
);

/** Titles the page and the browser's tab. */
export function Page({ title, name = title, children }: { title: string; name?: string; children: ReactNode }) {
  const { project } = useSession().session;
  useEffect(() => {
    document.title = `${name} – ${project?.name ?? 'Console'}`;
  }, [name, project]);
  return (
    <>
      <h1 title={title}>
        <bdi>{title}</bdi>
      </h1>
      {children}
    </>
  );
}

export function Section({ title, level = 2, children }: { title: ReactNode; level?: 2 | 3; children: ReactNode }) {
  const id = useId();
  const Heading = `h${level}` as const;
  return (
    <section aria-labelledby={id}>
      <Heading id={id}>{title}</Heading>
      {children}
    </section>
  );
}

interface LoadedOptions<T> {
  query: { data: T | undefined; error: unknown };
  children: (data: T) => ReactNode;
}

/** Renders the result of a query, and the error above it. */
export function Loaded<T>({ query: { data, error }, children }: LoadedOptions<T>) {
  return (
    <>
      <Problem error={error} />
      {data === undefined ? !error && <Loading /> : children(data)}
    </>
  );
}

/** The colour and the symbol of each state. All other states are neutral. */
const looks: readonly (readonly [tone: string, sign: string, states: string])[] = [
  ['good', '✓', 'accepted authorized completed approved approve accept used permit active'],
  ['bad', '✕', 'failed rejected reject denied forbid revoked suspended ended retrying'],
  ['bad', '⊘', 'expired cancelled'],
  ['busy', '▶', 'running'],
  ['held', '‖', 'waiting paused pending pending_approval require_approval awaiting_verification'],
];

/** Shows a state by text, a symbol and a colour. */
export function Badge({ state }: { state: string }) {
  const [tone = 'neutral', sign = '·'] = looks.find(([, , states]) => states.split(' ').includes(state)) ?? [];
  return (
    <span className={`${badgeStyles.badge} ${badgeStyles[tone] ?? ''}`}>
      <span aria-hidden="true">{sign}</span> {capitalized(inWords(state))}
    </span>
  );
}

/** Announces each change of the state to screen readers. */
export function StateLine({ state }: { state: string }) {
  return (
    <p role="status">
      <span className={textStyles.hidden}>State: </span>
      <Badge state={state} />
    </p>
  );
}

export const rounded = (credits: number): number => Math.round(credits * 100) / 100;

export function durationText(seconds: number): string {
  const milliseconds = Math.round(Math.max(0, seconds) * 1000);
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 59_950) return `${Math.round(milliseconds / 100) / 10} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Shows the time from `from` to `to`, or a running clock if `to` is null. */
export function Elapsed({ from, to }: { from: number; to: number | null }) {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (to !== null) return undefined;
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, [to]);
  return <>{durationText(to === null ? Math.floor(Math.max(0, now - from)) : to - from)}</>;
}

interface ActionButtonOptions extends Pick<ButtonHTMLAttributes<HTMLButtonElement>, 'aria-label' | 'className'> {
  name: string;
  isDisabled?: boolean;
  /** Set for a button of a choice. */
  isPressed?: boolean;
  onClick: () => void;
}

export function ActionButton({ name, isDisabled, isPressed, onClick, ...button }: ActionButtonOptions) {
  return (
    <button type="button" {...button} disabled={isDisabled} aria-pressed={isPressed} onClick={onClick}>
      {name}
    </button>
  );
}

export function LoadOlder({ hasOlder, load }: { hasOlder: boolean; load: () => void }) {
  if (!hasOlder) return null;
  return (
    <p>
      <ActionButton name="Load more" onClick={load} />
    </p>
  );
}

interface ScrollTableOptions {
  label: string;
  head: readonly string[];
  /** Whether all columns but the first have numbers. */
  hasNumbers?: boolean;
  children: ReactNode;
}

/** A table that scrolls horizontally. Its rows are the children. */
export function ScrollTable({ label, head, hasNumbers = false, children }: ScrollTableOptions) {
  const looks = hasNumbers ? `${scrollStyles.scroll} ${scrollStyles.numbers}` : scrollStyles.scroll;
  return (
    <div className={looks} role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Shows an error message of the API, after `what` if it is set. What could not be read can be read again. */
export function Problem({ error, what }: { error: unknown; what?: ReactNode }) {
  const retry = useRetry(error);
  if (error === undefined || error === null) return null;
  return (
    <p className={messageStyles.problem} role="alert">
      {what !== undefined && <>{what}: </>}
      <ErrorText error={error} />
      {retry && (
        <>
          {' '}
          <ActionButton name="Try again" className={buttonStyles.plain} onClick={retry} />
        </>
      )}
    </p>
  );
}

export function ErrorText({ error }: { error: unknown }) {
  const lifecycle = lifecycleOf(error);
  return (
    <>
      {messageOf(error)}
      {lifecycle !== undefined && (
        <>
          {' '}
          <LifecycleLink id={lifecycle}>Lifecycle {lifecycle}</LifecycleLink>
        </>
      )}
    </>
  );
}

/** Says what to do about an empty list, with a command to copy. */
export function Empty({ children, command }: { children: ReactNode; command?: string }) {
  return (
    <div className={messageStyles.empty}>
      <p>{children}</p>
      {command !== undefined && <Command text={command} />}
    </div>
  );
}

/** A text to copy, such as a command. */
export function Command({ text, label = 'Command' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState<string>();
  return (
    <div className={messageStyles.command}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      {/* Browsers offer the clipboard only over HTTPS or on localhost. */}
      {'clipboard' in navigator && (
        <ActionButton
          name={copied === text ? 'Copied' : 'Copy'}
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
        />
      )}
    </div>
  );
}

export function Data({ value, label }: { value: unknown; label: string }) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      {text.length > 50_000 ? `${text.slice(0, 50_000)}\n…` : text}
    </pre>
  );
}

interface WindowOptions {
  title: string;
  isDrawer?: boolean;
  /** Whether Escape and a click outside close the window, like its button. */
  isDismissable?: boolean;
  /** Undefined if the person cannot close the window. */
  onClose?: () => void;
  children: ReactNode;
}

/** A modal dialog, which keeps the focus until it is closed. */
export function Window({ title, isDrawer = false, isDismissable = true, onClose, children }: WindowOptions) {
  return (
    <ModalOverlay
      className={isDrawer ? `${windowStyles.overlay} ${windowStyles.side}` : (windowStyles.overlay ?? '')}
      isOpen
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      onOpenChange={(isOpen) => void (isOpen || onClose?.())}
    >
      <Modal className={windowStyles.window ?? ''}>
        <Dialog aria-label={title}>
          <header>
            <h2>{title}</h2>
            {onClose && <ActionButton name="Close" onClick={onClose} />}
          </header>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
