import { createRequire } from 'node:module';
import { mkdtempSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}
type S3rverClass = new (options: object) => S3rver;

export interface S3Server {
  env: Record<string, string>;
  /** Names of the objects that are there. */
  objects(): string[];
  close(): Promise<void>;
}

const bucket = 'files-of-a-test';

/** A server that speaks S3's protocol, in this process (s3rver). It does not check version 4 signatures. */
export async function startS3(): Promise<S3Server> {
  const Server = createRequire(import.meta.url)('s3rver') as S3rverClass;
  const directory = mkdtempSync(path.join(tmpdir(), 's3-'));
  const server = new Server({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: bucket }] });
  const { port } = await server.run();
  const folder = path.join(directory, bucket);
  return {
    env: {
      S3_BUCKET: bucket,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    },
    objects() {
      if (!existsSync(folder)) return [];
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('._S3rver_object'));
      return names.map((name) => name.slice(0, -'._S3rver_object'.length));
    },
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
