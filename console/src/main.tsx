import './styles/tokens.css';
import './styles/base.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ServiceError } from '@client/service-error.js';
import { messageOf } from './api.js';
import { followProject } from './news.js';
import { createAppRouter } from './router.js';
import { readSession } from './session.js';
import { applyTheme, storedTheme } from './theme.js';
import messageStyles from './styles/message.module.css';
import frameStyles from './frame.module.css';

applyTheme(storedTheme());

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Retry only if the service is starting or unreachable. A refusal is final.
      retry: (failures, error) => failures < 2 && !(error instanceof ServiceError && error.status < 500),
      retryDelay: 1000,
      staleTime: 1000,
    },
  },
});

const extendIntervalMs = 300_000;

/** The person's own actions extend the session; automatic refreshes do not. */
function extendSessionWhileUsed(): void {
  let extendedAt = Date.now();
  const extend = () => {
    if (Date.now() - extendedAt < extendIntervalMs) return;
    extendedAt = Date.now();
    void readSession(false).catch(() => undefined);
  };
  addEventListener('pointerdown', extend);
  addEventListener('keydown', extend);
}

// The address in the HTML is relative to the first page.
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
icon?.setAttribute('href', icon.href);

const root = createRoot(document.getElementById('app') as HTMLElement);
try {
  const { person, may } = await readSession(false);
  // The server sends the app only to signed-in people, so the session has ended since.
  if (!person) location.reload();
  extendSessionWhileUsed();
  if (may.includes('get /{projectID}/events')) followProject(queries);
  root.render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={createAppRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  );
} catch (error) {
  root.render(
    <main className={frameStyles.main}>
      <h1>The console could not start</h1>
      <p className={messageStyles.problem} role="alert">
        {messageOf(error)}
      </p>
      <p>
        <a href="">Try again</a>
      </p>
    </main>,
  );
}
