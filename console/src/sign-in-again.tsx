import { useEffect, type FormEvent } from 'react';
import { Problem, Window } from './parts.js';
import { resumeIfSignedIn, signIn, useSession } from './session.js';
import { useSubmit } from './use-submit.js';
import buttonStyles from './styles/button.module.css';

/** Asks for the password in a dialog over the page, so that the page keeps everything that the person typed. */
export function SignInAgain() {
  const { isEnded, session } = useSession();
  const { error, isBusy, submit } = useSubmit(async (_options, email: string, password: string) => {
    const problem = await signIn(email, password);
    if (problem !== undefined) throw new Error(problem);
  });
  useEffect(() => {
    if (!isEnded) return undefined;
    const resume = () => void resumeIfSignedIn().catch(() => undefined);
    addEventListener('focus', resume);
    return () => removeEventListener('focus', resume);
  }, [isEnded]);
  if (!isEnded) return null;
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void submit(form.get('email') as string, form.get('password') as string);
  };
  return (
    <Window title="Sign in again" isDismissable={false}>
      <p>Your session has expired. Sign in to continue. Your changes on this page are kept.</p>
      <Problem error={error} />
      <form onSubmit={send}>
        <label>
          Email address
          <input name="email" type="email" autoComplete="username" required defaultValue={session.person?.email} />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required autoFocus />
        </label>
        <p>
          <button className={buttonStyles.primary} disabled={isBusy}>
            Sign in
          </button>
        </p>
      </form>
    </Window>
  );
}
