import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createUser, findUserByEmail } from '../auth/users.js';
import { loadConfig } from '../config.js';
import { newId } from '../ids.js';
import { createMongo } from '../stores/mongo.js';
import { told } from './told.js';

/** `add-user <organization_id> <email> [name]`: a user without a role; the password is shown once. */
const NewUser = z.tuple([z.string().min(1).max(255), z.email().max(320), z.string().trim().min(1).max(200)]);

async function main([organization, email, name = email]: (string | undefined)[]): Promise<number> {
  const parsed = NewUser.safeParse([organization, email, name]);
  if (!parsed.success) return told('usage: add-user <organization_id> <email> [name]', 2);
  const [organizationId, address, shown] = parsed.data;
  const mongo = createMongo(loadConfig(process.env).mongodb);
  try {
    if (!(await mongo.collections.organizations.findOne({ _id: organizationId }))) return told(`There is no organization ${organizationId}.`, 1);
    if (await findUserByEmail(mongo.collections, address)) return told(`There is a user ${address} already.`, 1);
    const password = randomBytes(18).toString('base64url');
    const { _id, email: stored } = await createUser(mongo.collections, { id: newId(), email: address, name: shown, password, organizationId });
    return told(JSON.stringify({ user_id: _id, email: stored, password }), 0);
  } finally {
    await mongo.close();
  }
}

process.exitCode = await main(process.argv.slice(2));
