import { useEffect, useId, useState, type ButtonHTMLAttributes, type ReactNode } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { capitalized, lifecycleOf, messageOf } from './api.js';
import { LifecycleLink } from './links.js';
import { useSession } from './session.js';

export const Loading = () => <p className="soft">Loading…</p>;

/** Titles the page and the browser's tab. */
export function Page({ title, name = title, children }: { title: string; name?: string; children: ReactNode }) {
  const { project } = useSession().session;
  useEffect(() => {
    document.title = `${name} – ${project?.name ?? 'Console'}`;
  }, [name, project]);
  return (
    <>
      <h1>
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
    <span className={`badge is-${tone}`}>
      <span aria-hidden="true">{sign}</span> {capitalized(state.replaceAll('_', ' '))}
    </span>
  );
}

/** Announces each change of the state to screen readers. */
export function StateLine({ state }: { state: string }) {
  return (
    <p role="status">
      <span className="hidden">State: </span>
      <Badge state={state} />
    </p>
  );
}

interface TimeOptions {
  at: number | null | undefined;
  /** The date if it is not today, and the time, by default. */
  format?: Intl.DateTimeFormat;
}

/** Shows a local time, with the UTC time as its tooltip. */
export function Time({ at, format }: TimeOptions) {
  if (at === null || at === undefined) return <span className="soft">–</span>;
  const date = new Date(at * 1000);
  const iso = date.toISOString();
  const day = date.toDateString() === new Date().toDateString() ? '' : `${date.toLocaleDateString()} `;
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {format?.format(date) ?? `${day}${date.toLocaleTimeString()}`}
    </time>
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

/** A table that scrolls horizontally. Its rows are the children. */
export function ScrollTable({
  label,
  head,
  children,
}: {
  label: string;
  head: readonly string[];
  children: ReactNode;
}) {
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0}>
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

/** Shows an error message of the API, after `what` if it is set. */
export function Problem({ error, what }: { error: unknown; what?: ReactNode }) {
  if (error === undefined || error === null) return null;
  return (
    <p className="problem" role="alert">
      {what !== undefined && <>{what}: </>}
      <ErrorText error={error} />
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
  const [copied, setCopied] = useState(false);
  return (
    <div className="empty">
      <p>{children}</p>
      {command !== undefined && (
        <div className="command">
          <pre tabIndex={0} role="region" aria-label="Command">
            {command}
          </pre>
          {/* Browsers offer the clipboard only over HTTPS or on localhost. */}
          {'clipboard' in navigator && (
            <ActionButton
              name={copied ? 'Copied' : 'Copy'}
              onClick={() => void navigator.clipboard.writeText(command).then(() => setCopied(true))}
            />
          )}
        </div>
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
      className={isDrawer ? 'overlay side' : 'overlay'}
      isOpen
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      onOpenChange={(isOpen) => void (isOpen || onClose?.())}
    >
      <Modal className="window">
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
