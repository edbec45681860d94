import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export interface Authority extends Certificate {
  /** A certificate that this authority vouches for; `name` as its common and DNS name. */
  issue(name: string): Certificate;
}

/** Where a test's certificates lie; to be removed after it. */
export function certificateFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'certificates-'));
}

/** An authority of the test's own, by the `openssl` command. */
export function createAuthority(folder: string, name: string): Authority {
  const own = files(folder, name);
  openssl('req', '-x509', ...newKey(own), '-out', own.certFile, '-days', '2', '-subj', `/CN=${name}`);
  return {
    ...read(own),
    issue(subject) {
      const issued = files(folder, `${name}-${subject}`);
      const [request, extensions] = [`${issued.certFile}.csr`, `${issued.certFile}.ext`];
      writeFileSync(extensions, `subjectAltName=DNS:${subject}\nbasicConstraints=CA:FALSE\n`);
      openssl('req', '-new', ...newKey(issued), '-out', request, '-subj', `/CN=${subject}`);
      const signing = ['-CA', own.certFile, '-CAkey', own.keyFile, '-CAcreateserial', '-days', '2', '-extfile', extensions];
      openssl('x509', '-req', '-in', request, ...signing, '-out', issued.certFile);
      return read(issued);
    },
  };
}

function newKey({ keyFile }: Pick<Certificate, 'keyFile'>): string[] {
  return ['-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile];
}

function files(folder: string, name: string): Pick<Certificate, 'certFile' | 'keyFile'> {
  return { certFile: path.join(folder, `${name}.pem`), keyFile: path.join(folder, `${name}.key`) };
}

function read({ certFile, keyFile }: Pick<Certificate, 'certFile' | 'keyFile'>): Certificate {
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
