import { z } from 'zod';

export const bucketVariables = {
  S3_BUCKET: z.string().optional(),
  AWS_REGION: z.string().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  AWS_ENDPOINT_URL_S3: z.url({ protocol: /^https?$/ }).optional(),
  AWS_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
};

type Variables = z.infer<z.ZodObject<typeof bucketVariables>>;

export interface S3Config {
  bucket: string;
  region: string;
  /** The URL of a server other than AWS. */
  endpoint: string | undefined;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

/** Requires a region for a bucket, and both parts of the access key or neither. */
export function checkBucket(
  env: Variables,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  if (env.S3_BUCKET === undefined) return;
  if (env.AWS_REGION === undefined)
    context.addIssue({ code: 'custom', path: ['AWS_REGION'], message: 'is needed with S3_BUCKET' });
  if ((env.AWS_ACCESS_KEY_ID === undefined) !== (env.AWS_SECRET_ACCESS_KEY === undefined))
    context.addIssue({
      code: 'custom',
      path: ['AWS_SECRET_ACCESS_KEY'],
      message: 'must be set together with AWS_ACCESS_KEY_ID',
    });
}

export function s3Of(env: Variables): S3Config | undefined {
  const { S3_BUCKET: bucket, AWS_REGION: region, AWS_SESSION_TOKEN: sessionToken } = env;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (bucket === undefined || region === undefined) return undefined;
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return { bucket, region, endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL, credentials };
}
