import { AppError } from '../../base/errors.js';
import { isJsonObject, parseJsonOrUndefined } from '../../base/json.js';

/** No control characters, and nothing that HTML interprets. The tokens of senders have at most a few hundred characters. */
const plainToken = /^[^\p{C}<>"'&`]{1,1024}$/u;

/** WebSub and Meta; Nylas and Dropbox; Microsoft Graph; SharePoint. */
const queryNames = ['hub.challenge', 'challenge', 'validationToken', 'validationtoken'];

/**
 * Returns the token in the query of a request with which a sender checks an address before it registers it, or undefined.
 * @throws AppError `invalid_request` for a token that is unsafe to return
 */
export function challengeInQuery(rawTarget: string): string | undefined {
  const start = rawTarget.indexOf('?');
  if (start < 0) return undefined;
  const query = new URLSearchParams(rawTarget.slice(start + 1));
  // The service has asked no hub to end a subscription (WebSub, 5.3).
  if ((query.get('hub.mode') ?? 'subscribe') !== 'subscribe') return undefined;
  const name = queryNames.find((each) => query.has(each));
  return name === undefined ? undefined : checked(query.get(name) ?? '');
}

const maxChallengeBody = 4096;

/**
 * Returns the token of the body with which Slack checks an address, or undefined for any other body.
 * @throws AppError `invalid_request` for a token that is unsafe to return
 */
export function challengeInBody(body: Buffer): string | undefined {
  if (body.length > maxChallengeBody || !body.includes('url_verification')) return undefined;
  const value = parseJsonOrUndefined(body.toString('utf8'));
  if (!isJsonObject(value) || value.type !== 'url_verification' || typeof value.challenge !== 'string')
    return undefined;
  return checked(value.challenge);
}

function checked(token: string): string {
  if (plainToken.test(token)) return token;
  throw new AppError(
    'invalid_request',
    'the challenge must have 1 to 1024 characters, without control characters, quotes, <, > and &',
  );
}
