import { useEffect, useState, type FormEvent } from 'react';
import { Window } from './parts.js';
import { resumeIfSignedIn, signIn, useSession } from './session.js';

/** Asks for the password in a dialog over the page, so that the page keeps everything that the person typed. */
export function SignInAgain() {
  const { isEnded, session } = useSession();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!isEnded) return undefined;
    const resume = () => void resumeIfSignedIn().catch(() => undefined);
    addEventListener('focus', resume);
    return () => removeEventListener('focus', resume);
  }, [isEnded]);
  if (!isEnded) return null;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    try {
      setProblem(await signIn(form.get('email') as string, form.get('password') as string));
    } catch {
      setProblem('The service cannot be reached.');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Window title="Sign in again" isDismissable={false}>
      <p>Your session has expired. Sign in to continue. Your changes on this page are kept.</p>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Email address
          <input name="email" type="email" autoComplete="username" required defaultValue={session.person?.email} />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required autoFocus />
        </label>
        <p>
          <button className="primary" disabled={isBusy}>
            Sign in
          </button>
        </p>
      </form>
    </Window>
  );
}
