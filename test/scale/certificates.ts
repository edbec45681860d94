import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generate, type CertificateExtension } from 'selfsigned';

export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export interface Authority extends Certificate {
  /** Issues a certificate of this authority. `name` is its common name and its DNS name. */
  issue(name: string): Promise<Certificate>;
}

/** The folder of a test's certificates, which the test removes. */
export function certificateFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'certificates-'));
}

/** Creates a certificate authority for one test. */
export async function createAuthority(folder: string, name: string): Promise<Authority> {
  const own = await made(folder, name, name, [{ name: 'basicConstraints', cA: true, critical: true }]);
  return {
    ...own,
    issue: (subject) =>
      made(
        folder,
        `${name}-${subject}`,
        subject,
        [
          { name: 'basicConstraints', cA: false },
          { name: 'subjectAltName', altNames: [{ type: 2, value: subject }] },
        ],
        own,
      ),
  };
}

async function made(
  folder: string,
  file: string,
  commonName: string,
  extensions: CertificateExtension[],
  ca?: Certificate,
): Promise<Certificate> {
  const attributes = [{ name: 'commonName', value: commonName }];
  const { cert, private: key } = await generate(attributes, {
    algorithm: 'sha256',
    extensions,
    ...(ca && { ca: { key: ca.key, cert: ca.cert } }),
  });
  const [certFile, keyFile] = [path.join(folder, `${file}.pem`), path.join(folder, `${file}.key`)];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { certFile, keyFile, cert, key };
}
