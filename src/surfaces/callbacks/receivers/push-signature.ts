import { setImmediate } from 'node:timers/promises';
import type { SecretBox } from '../../../auth/secret-box.js';
import {
  bindingsOf,
  secretOf,
  type RepositoryBindingDocument,
  type RepositoryCollections,
} from '../../../domain/connectors/operations/repositories.js';
import type { ReadBody } from '../read-body.js';
import type { Delivery } from '../receiver.js';
import { hubForm, isSignedBy, mismatch } from '../signature.js';

interface PushSignatureOptions {
  /** The secret of the installation. If it is undefined, unsigned deliveries are accepted (specification). */
  secret: string | undefined;
  box: SecretBox;
  collections: RepositoryCollections;
  read: ReadBody;
}

export type PushSignature = ReturnType<typeof createPushSignature>;

const bindingsTried = 50;

/**
 * Creates the verifier. Each binding has its own secret. Until a push is signed with it, the secret of the installation
 * is also valid, or no signature if the installation has no secret.
 */
export function createPushSignature({ secret, box, collections, read }: PushSignatureOptions) {
  const isSignedByInstallation = ({ header, body }: Delivery) =>
    secret === undefined || isSignedBy(header('x-hub-signature-256'), hubForm, secret, body);

  async function ownOf(
    bindings: readonly RepositoryBindingDocument[],
    { header, body }: Delivery,
  ): Promise<RepositoryBindingDocument[]> {
    const signature = header('x-hub-signature-256') ?? '';
    const signers: RepositoryBindingDocument[] = [];
    if (!hubForm.test(signature)) return signers;
    for (const binding of bindings.slice(0, bindingsTried)) {
      const secretOfBinding = secretOf(box, binding);
      // Hashing a body may take 20 ms.
      await setImmediate();
      if (secretOfBinding !== undefined && isSignedBy(signature, hubForm, secretOfBinding, body)) signers.push(binding);
    }
    return signers;
  }

  return {
    /** Before anything is parsed. @throws AppError `invalid_signature` if it is not signed with a permitted secret */
    async verify(delivery: Delivery): Promise<void> {
      if (isSignedByInstallation(delivery)) return;
      if (!hubForm.test(delivery.header('x-hub-signature-256') ?? '')) throw mismatch();
      const contentType = delivery.header('content-type');
      const repository = await read('readRepository', { body: delivery.body, contentType });
      const bindings = repository === undefined ? [] : await bindingsOf(collections, repository);
      if ((await ownOf(bindings, delivery)).length === 0) throw mismatch();
    },

    /** Returns the bindings that a verified delivery may reach. `own` are those whose own secret signed it. */
    async reached(bindings: readonly RepositoryBindingDocument[], delivery: Delivery) {
      const signers = await ownOf(bindings, delivery);
      const others = isSignedByInstallation(delivery)
        ? bindings.filter((binding) => binding.secret_confirmed !== true && !signers.includes(binding))
        : [];
      return { own: signers, all: [...signers, ...others] };
    },
  };
}
