import { Link, Outlet, useLocation, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { roleName } from './roles.js';
import type { ConsolePage } from '@service/surfaces/console/console-pages.js';
import { pages } from './navigation.js';
import { useConnected } from './news.js';
import { consolePath, csrfToken, useSession, useMay } from './session.js';
import { OpenPalette } from './palette/open-palette.js';
import { SwitchProject } from './projects/switch-project.js';
import { SignInAgain } from './sign-in-again.js';
import { useOfferedPages } from './use-offered-pages.js';
import { Page } from './parts.js';
import buttonStyles from './styles/button.module.css';
import messageStyles from './styles/message.module.css';
import styles from './frame.module.css';

export function Frame() {
  const { person, project } = useSession().session;
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <header className={styles.top}>
        <div className={styles.bar}>
          <p className={styles.where}>
            <SwitchProject /> <span aria-hidden="true">›</span>{' '}
            <strong>
              <bdi>{project?.name}</bdi>
            </strong>{' '}
            <span className={styles.organization}>
              of <bdi>{project?.organization}</bdi>
            </span>
          </p>
          <Connection />
          <OpenPalette />
          <form method="post" action={`${consolePath}/sign-out`}>
            <input type="hidden" name="csrf_token" value={csrfToken()} readOnly />
            <p className={styles.who}>
              <Link to="/profile">
                <bdi className={styles.wide}>{person?.email}</bdi>
                <span className={styles.narrow}>Profile</span>
              </Link>
              <span className={styles.wide}>, {roleName(project?.role ?? '')}</span>
            </p>
            <button className={buttonStyles.small}>Sign out</button>
          </form>
        </div>
      </header>
      <div className={styles.layout}>
        <Navigation />
        <main id="main" tabIndex={-1} className={styles.main}>
          <OfferedPage>
            <Outlet />
          </OfferedPage>
        </main>
      </div>
      <SignInAgain />
    </>
  );
}

function Connection() {
  const isConnected = useConnected();
  return (
    <p role="status" className={styles.connection}>
      {!isConnected && 'Reconnecting. This page may be out of date.'}
    </p>
  );
}

/**
 * Links to the pages that this person can use, by group. A narrow screen shows one line, scrolled to the current page.
 */
function Navigation() {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    const open = nav.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (open && nav.current) nav.current.scrollLeft = open.offsetLeft - nav.current.clientWidth / 3;
  }, [pathname]);
  return (
    <nav aria-label="Console" ref={nav} className={styles.navigation}>
      {useOfferedPages().map(({ group, pages }) => (
        <section key={group} aria-label={group}>
          <p aria-hidden="true">{group}</p>
          {pages.map((page) => (
            <PageLink key={page.path} page={page} />
          ))}
        </section>
      ))}
    </nav>
  );
}

function PageLink({ page: { path, name } }: { page: ConsolePage }) {
  return (
    <Link
      // The path of each page in the navigation is a route without other parameters.
      to={path as '/'}
      activeOptions={{ exact: path === '/', includeSearch: false }}
    >
      {name}
    </Link>
  );
}

/** Renders the current page, or says why this person may not see it. */
function OfferedPage({ children }: { children: ReactNode }) {
  const may = useMay();
  // For example `/runs/$runId`.
  const path: string = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath ?? '/' });
  const own = pages.find((each) => each.path === path);
  const page = own?.needs ? own : pages.find((each) => each.path === `/${path.split('/')[1]}`);
  if (!page?.needs || may(page.needs.operation)) return children;
  return (
    <Page title={page.name}>
      <p className={messageStyles.note}>
        Your role in this project does not include access to this page. {page.needs.allowedBy}
      </p>
    </Page>
  );
}
