import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { AddTemplate, useTemplates } from '../agentflows/templates.js';
import { Command, ActionButton } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { useFirstAgentflow } from '../use-first-agentflow.js';
import { Views } from '../views.js';
import { dismiss, isDismissed, stepIds, useProgress, type StepId } from './progress.js';
import { languages, linesOf, type ExampleRequest, type Language } from './request-lines.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import styles from './onboarding.module.css';

interface Step {
  title: string;
  about: string;
  /** Who may do it needs this operation. */
  operation: string;
  request: ExampleRequest;
  /** Does the step in the console. */
  action: ReactNode;
}

/** The first steps of an empty project, until they are done or the person dismisses them. */
export function Onboarding() {
  const may = useMay();
  const [isShown, setShown] = useState(() => !isDismissed());
  const mayBuild = may('post /agentflow') && may('get /{projectID}/execution_flows');
  const progress = useProgress(isShown && mayBuild);
  if (!isShown || !mayBuild || !progress || progress.isInUse || progress.done.size === stepIds.length) return null;
  return (
    <section className={styles.card} aria-label="First steps">
      <header className={styles.head}>
        <h2>First steps</h2>
        <p role="status" className={textStyles.soft}>
          {progress.done.size} of {stepIds.length} done
        </p>
        <ActionButton
          name="Dismiss"
          aria-label="Dismiss the first steps"
          className={buttonStyles.small}
          onClick={() => {
            dismiss();
            setShown(false);
          }}
        />
      </header>
      <Steps done={progress.done} />
    </section>
  );
}

function Steps({ done }: { done: ReadonlySet<StepId> }) {
  const [opened, setOpened] = useState<StepId>();
  const [language, setLanguage] = useState<Language>('curl');
  const steps = useSteps(done);
  const may = useMay();
  const current = opened ?? stepIds.find((id) => !done.has(id));
  return (
    <ol className={styles.steps}>
      {stepIds.map((id) => {
        const { title, about, operation, request, action } = steps[id];
        const isOpen = id === current;
        return (
          <li key={id} className={styles.step}>
            <h3>
              <button
                type="button"
                className={styles.title}
                aria-expanded={isOpen}
                onClick={() => setOpened(isOpen ? undefined : id)}
              >
                <span aria-hidden="true" className={done.has(id) ? styles.done : styles.open}>
                  {done.has(id) ? '✓' : ''}
                </span>
                {title}
                {done.has(id) && <span className={textStyles.hidden}>, done</span>}
              </button>
            </h3>
            {isOpen && (
              <div className={styles.content}>
                <p>{about}</p>
                {may(operation) ? (
                  action
                ) : (
                  <p className={textStyles.soft}>An administrator of the project does this.</p>
                )}
                <Views
                  label={`How to ${title.toLowerCase()}`}
                  names={languages}
                  selected={language}
                  onSelect={setLanguage}
                >
                  {(chosen) => <Command text={linesOf(request, chosen)} label={`${title} with ${languages[chosen]}`} />}
                </Views>
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const toPage = (to: '/keys' | '/connectors' | '/policies' | '/schedules/new', name: string) => (
  <p>
    <Link className={buttonStyles.link} to={to}>
      {name}
    </Link>
  </p>
);

function useSteps(done: ReadonlySet<StepId>): Record<StepId, Step> {
  const templates = useTemplates();
  const agentflow = useFirstAgentflow(done.has('template'));
  return {
    template: {
      title: 'Add a template',
      about: 'A template is a finished agentflow. A copy of it becomes yours, and you can run and change it.',
      operation: 'post /marketplace/coworker/{id}/hire',
      request: {
        path: '/marketplace/coworker/{id}/hire',
        params: { id: templates.chosen?._id ?? '<template id>' },
        body: {},
        credential: 'SERVICE_API_KEY',
      },
      action: <AddTemplate {...templates} />,
    },
    key: {
      title: 'Create an API key',
      about: 'Programs call the service with a key. It is shown once.',
      operation: 'post /v1/apikeys',
      request: { path: '/v1/apikeys', body: { name: 'first', project_id: projectId }, credential: 'USER_TOKEN' },
      action: toPage('/keys', 'Open API keys'),
    },
    connector: {
      title: 'Connect a system',
      about: 'A connector has the address and the secrets of a system that agents and steps call.',
      operation: 'post /actions/{category}/config',
      request: {
        path: '/actions/{category}/config',
        params: { category: 'restful' },
        body: { name: 'Example', config: { base_url: 'https://example.com' } },
        credential: 'SERVICE_API_KEY',
      },
      action: toPage('/connectors', 'Open connectors'),
    },
    rule: {
      title: 'Add a rule',
      about:
        'Rules forbid calls, or hold them until a person has approved them. This one holds every HTTP call of an agent.',
      operation: 'post /v1/policies/rules',
      request: {
        path: '/v1/policies/rules',
        body: {
          policy_id: `ask-before-http-calls-${projectId}`,
          effect: 'require_approval',
          tools: ['act.http'],
          projects: [projectId],
        },
        credential: 'USER_TOKEN',
      },
      action: toPage('/policies', 'Open policies'),
    },
    schedule: {
      title: 'Plan runs',
      about:
        'A schedule starts an agentflow at set times. Promote the agentflow first: schedules run what is in production.',
      operation: 'post /schedule/coworker',
      request: {
        path: '/schedule/coworker',
        body: { coworker_id: agentflow, goal: 'Report on the week', type: 'cron', frequency: '0 9 * * 1' },
        credential: 'SERVICE_API_KEY',
      },
      action: toPage('/schedules/new', 'New schedule'),
    },
  };
}
