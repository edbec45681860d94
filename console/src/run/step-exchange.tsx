import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { StepExchange } from '../api.js';
import { LifecycleLink } from '../links.js';
import { Command, Data } from '../parts.js';
import { useMay } from '../session.js';
import { asCurl, type HttpRequest } from './as-curl.js';
import textStyles from '../styles/text.module.css';

interface HttpCall {
  method?: unknown;
  url?: unknown;
  headers?: unknown;
  body?: unknown;
}

/** Shows what one attempt sent and received. The API redacts it. */
export function Exchange({ exchange }: { exchange: StepExchange }) {
  const { prompt, input, request, response, log, output, lifecycle_id: lifecycle } = exchange;
  return (
    <>
      {prompt && <Prompt prompt={prompt} />}
      {input !== undefined && (
        <Part name="Input">
          <Data value={input} label="Input" />
        </Part>
      )}
      {request !== undefined && <Request request={request as HttpCall} />}
      {response && (
        <Part name={`Response: ${response.status}`}>
          <Named name="Headers" of="response" value={response.headers} />
          <Named name="Body" of="response" value={response.body} />
        </Part>
      )}
      {log !== undefined && (
        <Part name="Log">
          <Data value={log.join('\n')} label="Log" />
        </Part>
      )}
      {output !== undefined && (
        <Part name="Output">
          <Data value={output} label="Output" />
        </Part>
      )}
      {lifecycle !== undefined && <Records lifecycle={lifecycle} />}
    </>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <h3>{name}</h3>
      {children}
    </>
  );
}

function Named({ name, of: whole, value }: { name: string; of: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <>
      <h4>{name}</h4>
      <Data value={value} label={`${name} of the ${whole}`} />
    </>
  );
}

function Prompt({ prompt }: { prompt: NonNullable<StepExchange['prompt']> }) {
  const { model, temperature, max_tokens, tools, messages } = prompt;
  return (
    <Part name="Prompt">
      <p className={textStyles.soft}>
        {model === '' ? 'Default model' : model}
        {temperature !== null && `, temperature ${temperature}`}
        {max_tokens !== null && max_tokens > 0 && `, at most ${max_tokens} tokens`}
        {tools.length > 0 && `, tools: ${tools.join(', ')}`}
      </p>
      {messages.map(({ role, content }, at) => (
        <div key={at}>
          <h4>{role}</h4>
          <Data value={content} label={`Message ${at + 1} of the prompt: ${role}`} />
        </div>
      ))}
    </Part>
  );
}

/** Shows an HTTP request as text, and any other request as JSON. */
function Request({ request }: { request: HttpCall }) {
  const { method, url, headers, body } = request;
  if (typeof method !== 'string' || typeof url !== 'string')
    return (
      <Part name="Request">
        <Data value={request} label="Request" />
      </Part>
    );
  return (
    <Part name="Request">
      <p>
        {method} <code>{url}</code>
      </p>
      <Named name="Headers" of="request" value={headers} />
      <Named name="Body" of="request" value={body} />
      <AsCurl request={{ method, url, headers, body }} />
    </Part>
  );
}

/** The command does the call again. Secrets in it are hidden, and have to be filled in. */
function AsCurl({ request }: { request: HttpRequest }) {
  const command = asCurl(request);
  if (command === undefined) return null;
  return (
    <details>
      <summary>As curl</summary>
      <p className={textStyles.soft}>
        This does the call again, without the rules of this service. Secrets are left out.
      </p>
      <Command text={command} label="Request as curl" />
    </details>
  );
}

function Records({ lifecycle }: { lifecycle: string }) {
  const may = useMay();
  return (
    <p>
      {may('get /v1/lifecycles/{id}') && <LifecycleLink id={lifecycle}>Lifecycle of the call</LifecycleLink>}{' '}
      {may('get /v1/audit') && (
        <Link to="/audit" search={{ lifecycle_id: lifecycle }}>
          Audit entries of the call
        </Link>
      )}
    </p>
  );
}
