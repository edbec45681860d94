/** The longest list of scopes that is requested, which a server that always asks for more cannot exceed. */
const maxLength = 2000;
/** A scope (RFC 6749, 3.3). */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The scopes of both lists, without duplicates, or undefined if there are none. Leaves out what is no scope. */
export function unionOfScopes(...lists: (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((list) => (list ?? '').split(' ')).filter((scope) => scopeForm.test(scope)));
  let union = '';
  for (const scope of scopes) if (union.length + scope.length < maxLength) union += (union === '' ? '' : ' ') + scope;
  return union === '' ? undefined : union;
}
