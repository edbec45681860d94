import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createUser, findUserByEmail } from '../auth/users.js';
import { newId } from '../base/ids.js';
import { printResult } from './print-result.js';
import { withCollections } from './with-collections.js';

/** `add-user <organization_id> <email> [name]`: adds a user without a role and prints the password once. */
const NewUser = z.tuple([z.string().min(1).max(255), z.email().max(320), z.string().trim().min(1).max(200)]);

async function main([organization, email, name = email]: (string | undefined)[]): Promise<number> {
  const parsed = NewUser.safeParse([organization, email, name]);
  if (!parsed.success) return printResult('usage: add-user <organization_id> <email> [name]', 2);
  const [organizationId, address, displayName] = parsed.data;
  return withCollections(async (collections) => {
    if (!(await collections.organizations.findOne({ _id: organizationId })))
      return printResult(`There is no organization ${organizationId}.`, 1);
    if (await findUserByEmail(collections, address)) return printResult(`The user ${address} already exists.`, 1);
    const password = randomBytes(18).toString('base64url');
    const user = { id: newId(), email: address, name: displayName, password, organizationId };
    const { _id, email: stored } = await createUser(collections, user);
    return printResult(JSON.stringify({ user_id: _id, email: stored, password }), 0);
  });
}

process.exitCode = await main(process.argv.slice(2));
