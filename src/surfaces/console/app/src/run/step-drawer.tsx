import type { Execution, Step } from '../api.js';
import { Badge, Data, durationText, Time, Window } from '../parts.js';

/** One step: its attempts, what it was given and what came out, as the API shows them (redacted). */
export function StepDrawer({ run, step, onClose }: { run: Execution; step: Step; onClose: () => void }) {
  const output = run.agents_output.find(({ agent_id }) => agent_id === step.agent_id);
  const actions = output?.actions.filter(({ action_id }) => action_id === step.action_id) ?? [];
  const proposed = run.previews[step.agent_id]?.proposed;
  const now = Date.now() / 1000;
  return (
    <Window title={step.name} isDrawer onClose={onClose}>
      <p>
        <Badge state={step.status} /> {step.kind.replaceAll('_', ' ')}, <code>{step.step_id}</code>
      </p>
      {step.error !== null && <p className="problem">{step.error}</p>}
      <h3>Attempts</h3>
      <ol>
        {(step.attempt_details ?? [{ attempt: step.attempts, ...step }]).map(
          ({ attempt, started_at, ended_at, error }) => (
            <li key={attempt} value={attempt}>
              <Time at={started_at} />, {durationText((ended_at ?? now) - started_at)}
              {error !== null && <Data value={error} label={`Error of attempt ${attempt}`} />}
            </li>
          ),
        )}
      </ol>
      {proposed !== undefined && (
        <>
          <h3>Proposed</h3>
          <Data value={proposed} label="Proposed" />
        </>
      )}
      {actions.map(({ action_id, name, output: result }) => (
        <div key={action_id}>
          <h3>Output of {name}</h3>
          <Data value={result} label={`Output of ${name}`} />
        </div>
      ))}
      {step.action_id === null && output && (
        <>
          <h3>Output</h3>
          <Data value={output.output} label="Output" />
        </>
      )}
    </Window>
  );
}
